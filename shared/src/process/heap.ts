import { setFlagsFromString } from 'node:v8';
import type { Clock } from './clock.ts';

let isKeptSmall = false;
const hasty = new Set<HeapHaste>();

/**
 * Has V8 favour a small heap over speed: a service beside what it watches is to be light. With 10,000 CronJobs and 30,000 Jobs it saves
 * a third of the resident memory for twice the CPU during the first list. Before anything large is allocated.
 */
export function keepHeapSmall(): void {
  isKeptSmall = true;
  favourSize();
}

function favourSize(): void {
  setFlagsFromString('--optimize-for-size');
  // That flag alone would have the young generation so small that most of what a list makes would be old before it is garbage.
  setFlagsFromString('--max-semi-space-size=4');
}

/**
 * Speed first for as long as there is haste, then a small heap again: without it a burst of messages takes a third less CPU, a read over a
 * large fleet half as much, and what the heap has grown meanwhile goes with the next collections. Several of one process may be in haste
 * at once. Where the heap is not kept small it changes nothing.
 */
export class HeapHaste {
  readonly #clock: Clock;
  readonly #forMs: number;
  #untilMs = 0;

  /** `forMs`: how long haste lasts after it was last asked for. */
  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  get isHasty(): boolean {
    return hasty.has(this);
  }

  /** Begins haste, or prolongs it; ends it at once when the signal is aborted. */
  hurry(signal: AbortSignal): void {
    this.#untilMs = this.#clock.monotonicMs() + this.#forMs;
    if (this.isHasty || signal.aborted) return;
    hasty.add(this);
    if (isKeptSmall) setFlagsFromString('--no-optimize-for-size');
    void this.#calmDown(signal);
  }

  async #calmDown(signal: AbortSignal): Promise<void> {
    for (let leftMs = this.#forMs; leftMs > 0 && !signal.aborted; leftMs = this.#untilMs - this.#clock.monotonicMs()) {
      await this.#clock.sleep(leftMs, signal).catch(() => {}); // an abort shows in the condition
    }
    hasty.delete(this);
    if (isKeptSmall && hasty.size === 0) favourSize();
  }
}
