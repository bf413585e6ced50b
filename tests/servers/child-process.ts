import { spawn, type ChildProcess } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** Told of all output as it comes; the process itself keeps only the newest part. */
  readonly onOutput?: (text: string) => void;
}

/** Processes that are running. None outlives the tests, however these end. */
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/** A process that tests start, pause, kill and start again. Its output is kept, the newest part of it. */
export class Child {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  #output = '';

  constructor(options: ChildOptions) {
    const { command, args, cwd, env, uid, gid } = options;
    this.#process = spawn(command, args, {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
      ...(cwd !== undefined && { cwd }),
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    });
    running.add(this.#process);
    this.#ended = new Promise((resolve, reject) => {
      this.#process.once('error', reject);
      this.#process.once('exit', (code, signal) => {
        running.delete(this.#process);
        resolve({ code, signal });
      });
    });
    // Those who wait hear of it; none has to.
    this.#ended.catch(() => {});
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.setEncoding('utf8');
      stream?.on('data', (text: string) => {
        this.#output = (this.#output + text).slice(-64 * 1024);
        options.onOutput?.(text);
      });
    }
    this.pid = this.#process.pid ?? -1;
  }

  get output(): string {
    return this.#output;
  }

  get running(): boolean {
    return this.#process.exitCode === null && this.#process.signalCode === null && this.pid !== -1;
  }

  /** Resolves when the process has ended; rejects when it could not be started. */
  async ended(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    return this.#ended;
  }

  /** SIGSTOP and SIGCONT pause it and let it go on; SIGKILL gives it no chance. Nothing happens when it has ended. */
  signal(signal: NodeJS.Signals): void {
    if (this.running) this.#process.kill(signal);
  }

  /** Sends the signal and waits for the end; after `graceMs` it is killed. */
  async stop(signal: NodeJS.Signals = 'SIGTERM', graceMs = 10_000): Promise<void> {
    if (!this.running) return;
    this.signal(signal);
    const abort = new AbortController();
    const late = wait(graceMs, undefined, { signal: abort.signal }).then(
      () => {
        this.signal('SIGKILL');
      },
      () => {},
    );
    await this.#ended;
    abort.abort();
    await late;
  }

  /** Resolves when `ask` does; rejects when the process ends first or the time is over, with the end of its output. */
  async ready(ask: () => Promise<void>, limitMs = 30_000): Promise<void> {
    const deadline = performance.now() + limitMs;
    for (;;) {
      try {
        await ask();
        return;
      } catch (cause) {
        if (!this.running || performance.now() > deadline) {
          throw new Error(`the server did not become ready:\n${this.#output.slice(-2_000)}`, { cause });
        }
        await wait(30);
      }
    }
  }
}
