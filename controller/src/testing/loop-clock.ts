import type { Clock } from '@cronjob-monitor/shared/process';

interface Sleeper {
  readonly wakesAtMs: number;
  readonly wake: () => void;
}

const longestWaitMs = 60_000;

/** A clock that others move, for loops that sleep by it: `letRun` wakes those whose time has come, and waits until they sleep again. */
export class LoopClock implements Clock {
  readonly #source: Pick<Clock, 'now' | 'monotonicMs'>;
  readonly #sleepers = new Set<Sleeper>();

  constructor(source: Pick<Clock, 'now' | 'monotonicMs'>) {
    this.#source = source;
  }

  now(): number {
    return this.#source.now();
  }

  monotonicMs(): number {
    return this.#source.monotonicMs();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      if (ms <= 0) return void setImmediate(resolve);
      const end = (settle: () => void): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener('abort', onAbort);
        settle();
      };
      const onAbort = (): void => end(() => reject(signal?.reason));
      const sleeper: Sleeper = { wakesAtMs: this.#source.monotonicMs() + ms, wake: () => end(resolve) };
      this.#sleepers.add(sleeper);
      signal?.addEventListener('abort', onAbort, { once: true });
    });
  }

  every(ms: number, fn: () => void | Promise<void>, signal: AbortSignal): void {
    const beat = async (): Promise<void> => {
      for (;;) {
        await this.sleep(ms, signal);
        await fn();
      }
    };
    beat().catch(() => {}); // the signal ended it
  }

  /** Resolves when so many loops sleep, and none of them is due. */
  async letRun(loops: number): Promise<void> {
    const endsAt = performance.now() + longestWaitMs;
    for (;;) {
      const nowMs = this.#source.monotonicMs();
      const due = [...this.#sleepers].filter(({ wakesAtMs }) => wakesAtMs <= nowMs);
      for (const { wake } of due) wake();
      if (due.length === 0 && this.#sleepers.size >= loops) return;
      if (performance.now() > endsAt) throw new Error(`${this.#sleepers.size} of ${loops} loops sleep`);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
  }
}
