import { setTimeout as wait } from 'node:timers/promises';
import type { MonitorProcess } from '../../servers/index.ts';

/** The processes of an installation, used as one service: the replica that leads, and any that answers. */
export class Installation {
  /** One in standalone. */
  readonly controllers: readonly MonitorProcess[];
  /** Those that serve the API; in standalone the same one process. */
  readonly apiservers: readonly MonitorProcess[];
  readonly #processes: ReadonlySet<MonitorProcess>;
  readonly #removeFiles: () => void;

  constructor(controllers: readonly MonitorProcess[], apiservers: readonly MonitorProcess[], removeFiles: () => void) {
    this.controllers = controllers;
    this.apiservers = apiservers;
    this.#processes = new Set([...controllers, ...apiservers]);
    this.#removeFiles = removeFiles;
  }

  /** Address of the first replica that serves the API. */
  get api(): string {
    return this.#first.api;
  }

  async startReady(limitMs = 60_000): Promise<void> {
    for (const one of this.#processes) if (!one.running) one.start();
    for (const one of this.#processes) await one.untilReady(limitMs);
  }

  /** The answer of the REST API as JSON, from each of its replicas in turn; throws when it is no success. */
  async ask<T>(path: string): Promise<T> {
    const one = this.apiservers[this.#asked++ % this.apiservers.length] ?? this.#first;
    return one.ask<T>(path);
  }
  #asked = 0;

  /** Asks again and again; rejects with the ends of the logs when a process ends before or the time is over. */
  async until(what: string, ask: () => boolean | Promise<boolean>, limitMs = 90_000): Promise<void> {
    const endsAt = performance.now() + limitMs;
    for (let pauseMs = 50; !(await ask()); pauseMs = Math.min(pauseMs * 1.2, 500)) {
      const ended = [...this.#processes].some(({ running }) => !running);
      if (ended || performance.now() > endsAt)
        throw new Error(`${what}: not within ${limitMs} ms${ended ? ', a process has ended' : ''}\n${this.tail()}`);
      await wait(pauseMs);
    }
  }

  /** SIGKILL to who leads and to a replica that serves, then all are started again; resolves when they are ready and one leads. */
  async crash(): Promise<void> {
    const leader = await this.leader();
    await leader.kill();
    if (this.#first !== leader) await this.#first.kill();
    await this.startReady();
    await this.until('a controller leads', async () => (await this.#whoLeads()) !== undefined, 60_000);
  }

  /** The process that leads now; throws when none does. */
  async leader(): Promise<MonitorProcess> {
    const leader = await this.#whoLeads();
    if (!leader) throw new Error(`no controller leads\n${this.tail()}`);
    return leader;
  }

  async #whoLeads(): Promise<MonitorProcess | undefined> {
    for (const one of this.controllers) {
      const leads = one.running && (await one.metric('cronjob_monitor_leader').catch(() => undefined));
      if (leads === 1) return one;
    }
    return undefined;
  }

  tail(): string {
    return [...this.#processes].map((one) => one.tail()).join('\n');
  }

  async remove(): Promise<void> {
    await Promise.all([...this.#processes].map((one) => one.remove()));
    this.#removeFiles();
  }

  get #first(): MonitorProcess {
    const [first] = this.apiservers;
    if (!first) throw new Error('no process serves the API');
    return first;
  }
}
