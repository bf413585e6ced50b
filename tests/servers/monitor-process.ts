import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { setTimeout as wait } from 'node:timers/promises';
import { Child } from './child-process.ts';
import { findFreePort } from './free-port.ts';
import { imageArguments } from './image-environment.ts';
import { imageTree } from './image-tree.ts';
import { storageFlags, type StoragePlace } from './storage-flags.ts';

export type EntryPoint = 'standalone' | 'controller' | 'apiserver';

export interface MonitorOptions {
  readonly entryPoint: EntryPoint;
  /** Path of a kubeconfig. */
  readonly kubeconfig: string;
  /** Without it the configuration file says where. */
  readonly storage?: StoragePlace;
  /** Further keys of the configuration, as flags; they win over what this file gives. */
  readonly config?: Readonly<Record<string, string | number | boolean>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Another program in place of the entry point's own, which is that of the image: its source, or one that a test composes. */
  readonly program?: string;
}

/** One line of a process's log. */
export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

export interface ProcessEnd {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** From the signal, or from when it was asked. */
  readonly tookMs: number;
}

/** The entry points as they are written: for a process that shares modules with a test. */
export const sourcePrograms: Readonly<Record<EntryPoint, string>> = {
  standalone: fileURLToPath(new URL('../../controller/src/bin/standalone.ts', import.meta.url)),
  controller: fileURLToPath(new URL('../../controller/src/bin/controller.ts', import.meta.url)),
  apiserver: fileURLToPath(new URL('../../apiserver/src/bin/apiserver.ts', import.meta.url)),
};

/** One of our own processes, as an operator runs it: flags in, log and listeners out. It may be killed and started again. */
export class MonitorProcess {
  /** All that it has logged, over all its lives. */
  readonly log: LogLine[] = [];
  /** Output that is no line of the log, such as the trace of a crash. */
  readonly otherOutput: string[] = [];
  readonly api: string;
  readonly probes: string;
  readonly metrics: string;
  readonly #options: MonitorOptions;
  readonly #program: string;
  readonly #flags: readonly string[];
  #child: Child | undefined;
  #unfinished = '';
  /** Lines of the log before its present life. */
  #linesBefore = 0;

  private constructor(options: MonitorOptions, program: string, ports: readonly [number, number, number]) {
    const [api, probes, metrics] = ports;
    this.#options = options;
    this.#program = program;
    this.api = `http://127.0.0.1:${api}`;
    this.probes = `http://127.0.0.1:${probes}`;
    this.metrics = `http://127.0.0.1:${metrics}`;
    const serves = options.entryPoint === 'controller' ? {} : { 'ui.port': api, 'api.host': '127.0.0.1' };
    const config = {
      'log-format': 'json',
      'cluster.kubeconfig': options.kubeconfig,
      'probes.bind-address': `127.0.0.1:${probes}`,
      'metrics.bind-address': `127.0.0.1:${metrics}`,
      'metrics.secure': false,
      ...serves,
      ...(options.storage && storageFlags(options.storage).flags),
      ...options.config,
    };
    this.#flags = Object.entries(config).map(([key, value]) => `--${key}=${value}`);
  }

  /** Chooses program and ports, and starts nothing. */
  static async prepare(options: MonitorOptions): Promise<MonitorProcess> {
    const program = options.program ?? join(await imageTree(), `${options.entryPoint}.js`);
    return new MonitorProcess(options, program, [await findFreePort(), await findFreePort(), await findFreePort()]);
  }

  /** Starts it and waits for nothing. */
  start(): void {
    if (this.running) throw new Error('it runs already');
    const { env, storage } = this.#options;
    this.#linesBefore = this.log.length;
    this.#child = new Child({
      command: process.execPath,
      args: [...imageArguments(), this.#program, ...this.#flags],
      env: {
        KUBECONFIG: undefined,
        NODE_OPTIONS: undefined,
        NODE_TEST_CONTEXT: undefined,
        ...(storage && storageFlags(storage).env),
        ...env,
      },
      onOutput: (text) => {
        this.#take(text);
      },
    });
  }

  get running(): boolean {
    return this.#child?.running ?? false;
  }

  get pid(): number {
    return this.#alive().pid;
  }

  /** Starts it and waits until it says that it is ready. */
  async startReady(limitMs = 60_000): Promise<void> {
    this.start();
    await this.untilReady(limitMs);
  }

  async untilReady(limitMs = 60_000): Promise<void> {
    await this.until(
      'it is ready',
      async () => {
        const { status } = await this.readiness();
        return status === 200;
      },
      limitMs,
    );
  }

  /** Resolves when this replica leads, with the lines it has logged since. */
  async untilLeading(limitMs = 60_000): Promise<void> {
    await this.until('it leads', () => this.#leads(), limitMs);
  }

  /** Asks again and again; rejects with the end of the log when the process ends before or the time is over. */
  async until(what: string | (() => string), ask: () => boolean | Promise<boolean>, limitMs = 30_000): Promise<void> {
    const endsAt = performance.now() + limitMs;
    for (;;) {
      if (await ask()) return;
      if (!this.running || performance.now() > endsAt)
        throw new Error(
          `${typeof what === 'string' ? what : what()}: not within ${limitMs} ms${this.running ? '' : ', it has ended'}\n${this.tail()}`,
        );
      await wait(50);
    }
  }

  /** What /readyz answers; status 0 while it does not listen. */
  async readiness(): Promise<{ readonly status: number; readonly body: string }> {
    try {
      const answer = await fetch(`${this.probes}/readyz`);
      return { status: answer.status, body: await answer.text() };
    } catch {
      return { status: 0, body: '' }; // it does not listen yet, or no longer
    }
  }

  /** The answer of the REST API as JSON; throws when it is no success. */
  async ask<T>(path: string): Promise<T> {
    const answer = await fetch(this.api + path);
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Sum of the samples of one metric whose labels hold `labels`; undefined when there is none. */
  async metric(name: string, labels: Readonly<Record<string, string>> = {}): Promise<number | undefined> {
    const text = await (await fetch(`${this.metrics}/metrics`)).text();
    const wanted = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const values = text
      .split('\n')
      .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
      .filter((line) => wanted.every((label) => line.includes(label)))
      .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)));
    return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0);
  }

  /** The most memory it has held so far, in bytes; undefined where the system does not tell. */
  peakMemoryBytes(): number | undefined {
    try {
      const [, kib] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8')) ?? [];
      return kib === undefined ? undefined : Number(kib) * 1024;
    } catch {
      return undefined; // not a Linux
    }
  }

  /**
   * How long its main thread was ready to run and had no processor, in milliseconds since its start: what a busy machine adds to
   * its delays. Undefined where the system does not tell.
   */
  waitedForProcessorMs(): number | undefined {
    return this.#schedulingMs()?.waitedMs;
  }

  /** How long its main thread has run so far, in milliseconds. Undefined where the system does not tell. */
  processorMs(): number | undefined {
    return this.#schedulingMs()?.ranMs;
  }

  #schedulingMs(): { readonly ranMs: number; readonly waitedMs: number } | undefined {
    try {
      const [ranNs, waitedNs] = readFileSync(`/proc/${this.pid}/task/${this.pid}/schedstat`, 'utf8').split(' ');
      return { ranMs: Number(ranNs) / 1e6, waitedMs: Number(waitedNs) / 1e6 };
    } catch {
      return undefined; // not a Linux, or one that does not count it
    }
  }

  /** Lines of the log with this message, those of all its lives. */
  said(message: string): LogLine[] {
    return this.log.filter(({ msg }) => msg === message);
  }

  /** The same, of its present or last life alone. */
  saidOfLate(message: string): LogLine[] {
    return this.log.slice(this.#linesBefore).filter(({ msg }) => msg === message);
  }

  signal(signal: NodeJS.Signals): void {
    this.#alive().signal(signal);
  }

  /** SIGKILL: it gets no chance. Resolves when it is gone. */
  async kill(): Promise<void> {
    const child = this.#alive();
    child.signal('SIGKILL');
    await child.ended();
  }

  /** Sends the signal and waits for the end, which is not hurried: a test says how long it may take. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<ProcessEnd> {
    const child = this.#alive();
    const askedAt = performance.now();
    child.signal(signal);
    return { ...(await child.ended()), tookMs: performance.now() - askedAt };
  }

  /** The end that it comes to by itself. */
  async ended(limitMs = 60_000): Promise<ProcessEnd> {
    const askedAt = performance.now();
    const child = this.#child;
    if (!child) throw new Error('it was never started');
    await this.#untilEnded(limitMs);
    return { ...(await child.ended()), tookMs: performance.now() - askedAt };
  }

  /** For the end of a test, whatever state it is in. */
  async remove(): Promise<void> {
    await this.#child?.stop('SIGTERM', 8_000);
  }

  /** The end of its log, for messages of failed tests. */
  tail(lines = 30): string {
    return [...this.log.slice(-lines).map((line) => JSON.stringify(line)), ...this.otherOutput.slice(-lines)].join(
      '\n',
    );
  }

  async #untilEnded(limitMs: number): Promise<void> {
    const endsAt = performance.now() + limitMs;
    while (this.running) {
      if (performance.now() > endsAt) throw new Error(`it has not ended within ${limitMs} ms\n${this.tail()}`);
      await wait(20);
    }
  }

  async #leads(): Promise<boolean> {
    try {
      return (await this.metric('cronjob_monitor_leader')) === 1;
    } catch {
      return false; // the listener is not open yet
    }
  }

  #alive(): Child {
    if (!this.#child?.running) throw new Error(`it does not run\n${this.tail()}`);
    return this.#child;
  }

  #take(text: string): void {
    const lines = (this.#unfinished + text).split('\n');
    this.#unfinished = lines.pop() ?? '';
    for (const line of lines) {
      try {
        this.log.push(JSON.parse(line) as LogLine);
      } catch {
        if (line !== '') this.otherOutput.push(line); // no line of the log
      }
    }
  }
}
