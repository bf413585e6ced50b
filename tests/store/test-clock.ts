import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '@cronjob-monitor/shared/process';

/**
 * Real waiting, since real servers answer in real time, with a wall clock that a test may move: instants in rows are then
 * values that the test knows.
 */
export class TestClock implements Clock {
  /** Added to the wall clock. */
  offsetMs = 0;

  now(): number {
    return Date.now() + this.offsetMs;
  }

  monotonicMs(): number {
    return performance.now();
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    await wait(ms, undefined, { signal });
  }

  every(ms: number, fn: () => void | Promise<void>, signal: AbortSignal): void {
    const loop = async (): Promise<void> => {
      for (;;) {
        await wait(ms, undefined, { signal });
        await fn();
      }
    };
    // It ends when the signal aborts; a test that needs the outcome asks for it itself.
    loop().catch(() => {});
  }
}
