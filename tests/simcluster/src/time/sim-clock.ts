import { DueHeap } from './due-heap.ts';

/** A call that waits for its instant. */
export interface PendingCall {
  cancel(): void;
}

/** All time of a simulated cluster: its controllers, its pods, its watches. Instants are epoch milliseconds. */
export interface SimClock {
  now(): number;
  /**
   * Until here time passes without a moment in which others could look: the end of an advance that is going on, now
   * otherwise. What is over before then need not be done, if only looking could tell.
   */
  readonly horizon: number;
  /** Calls `fn` once, at `at` or as soon after it as the clock can. Never from within this call. */
  callAt(at: number, fn: () => void): PendingCall;
  /** Drops what waits and holds no timer of the process any more. */
  stop(): void;
}

/** Time that stands still until told. `follow` ties it to the wall clock for good. */
export interface VirtualClock extends SimClock {
  /** Runs everything due up to and including `at`, in order of its instants; the clock stands at `at` afterwards. */
  advanceTo(at: number): void;
  advanceBy(ms: number): void;
  /** From here on time passes by itself, `speed` times as fast as the wall clock (1 by default). */
  follow(speed?: number): void;
}

/**
 * A timer of a busy process comes late. Calls that are due by then run as if it had come in time, or else what was asked for
 * next would come after what was to come later. Beyond this, in time of the wall, they are late indeed.
 */
const mostLateMs = 1_000;

interface Running {
  readonly wallAt: number;
  readonly virtualAt: number;
  readonly speed: number;
}

interface Call {
  readonly fn: () => void;
  cancelled: boolean;
}

/** Longest delay a timer of Node takes; longer waits are cut and armed again. */
const longestTimerMs = 2 ** 31 - 1;

/** The wall clock, or one that starts at `startAt` and stands still until advanced or told to follow. */
export function createClock(): SimClock;
export function createClock(startAt: number): VirtualClock;
export function createClock(startAt?: number): VirtualClock {
  const clock = new HeapClock(startAt ?? Date.now());
  if (startAt === undefined) clock.follow();
  return clock;
}

class HeapClock implements VirtualClock {
  readonly #due = new DueHeap<Call>();
  #now: number;
  #latest: number;
  #running: Running | undefined;
  /** While a call runs it is the instant for which it was asked, though its timer came late. */
  #calling = false;
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Infinity;
  #stopped = false;
  #advancingTo: number | undefined;

  constructor(startAt: number) {
    this.#now = startAt;
    this.#latest = startAt;
  }

  now(): number {
    const running = this.#running;
    if (running === undefined || this.#calling) return this.#now;
    return this.#wallNow(running);
  }

  #wallNow(running: Running): number {
    // Between calls an instant never goes back, even if the wall clock does.
    const now = Math.floor(running.virtualAt + (Date.now() - running.wallAt) * running.speed);
    if (now > this.#latest) this.#latest = now;
    return this.#latest;
  }

  get horizon(): number {
    return this.#advancingTo ?? this.now();
  }

  callAt(at: number, fn: () => void): PendingCall {
    const call: Call = { fn, cancelled: false };
    if (!this.#stopped) {
      this.#due.push(Math.ceil(at), call);
      if (this.#running !== undefined) this.#arm();
    }
    return {
      cancel: () => {
        call.cancelled = true;
      },
    };
  }

  advanceTo(at: number): void {
    if (this.#running !== undefined) throw new Error('a clock that follows the wall clock cannot be advanced');
    this.#advancingTo = at;
    try {
      this.#runDue(at);
    } finally {
      this.#advancingTo = undefined;
    }
    if (at > this.#now) this.#now = at;
  }

  advanceBy(ms: number): void {
    this.advanceTo(this.#now + ms);
  }

  follow(speed = 1): void {
    this.#running = { wallAt: Date.now(), virtualAt: this.now(), speed };
    this.#arm();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    while (this.#due.pop() !== undefined);
  }

  #runDue(until: number): void {
    for (;;) {
      const at = this.#due.nextAt;
      if (at === undefined || at > until) return;
      const call = this.#due.pop();
      if (call === undefined || call.cancelled) continue;
      const earliest = this.#running === undefined ? this.#now : until - mostLateMs * this.#running.speed;
      this.#now = Math.max(at, earliest);
      this.#calling = true;
      try {
        call.fn();
      } finally {
        this.#calling = false;
      }
    }
  }

  #arm(): void {
    const at = this.#due.nextAt;
    const running = this.#running;
    if (this.#stopped || running === undefined || at === undefined || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    const delayMs = Math.min(Math.max(0, Math.ceil((at - this.#wallNow(running)) / running.speed)), longestTimerMs);
    this.#timer = setTimeout(() => {
      this.#timerAt = Infinity;
      this.#runDue(this.now());
      this.#arm();
    }, delayMs);
  }
}
