import { withinLimit, type Clock } from '@cronjob-monitor/shared/process';

/** What a queue tells about itself; times in seconds. */
export interface QueueMetrics {
  added(): void;
  /** A key waited so long before a worker took it. */
  waited(seconds: number): void;
  worked(seconds: number): void;
}

/** Sleeps are cut so that a step of the wall clock is noticed within this time. */
const longestSleepMs = 30_000;

/**
 * The keys that wait to be reconciled.
 *
 * A key waits at most once, however often it is added. It is worked on by one worker at a time; added meanwhile, it runs once
 * more afterwards. Until `open` nothing is taken in: a follower collects no work. `drain` is the end: no new keys, the
 * delayed ones dropped, and what waits is still worked off.
 */
export class WorkQueue<K> {
  readonly #clock: Clock;
  readonly #metrics: QueueMetrics;
  readonly #retries: RetryDelays<K>;
  /** Key to the monotonic instant of its adding; in order of arrival. */
  readonly #waiting = new Map<K, number>();
  #arrivals = this.#waiting.keys();
  /** Keys in work: when they were added, when the work began, and whether they were added again since. */
  readonly #inWork = new Map<K, { readonly addedMs: number; readonly sinceMs: number; again: boolean }>();
  /** By wall clock: when to come back. */
  readonly #comingBack = new DelayedKeys<K>();
  /** By monotonic clock: retries. */
  readonly #retrying = new DelayedKeys<K>();
  #alarm: { readonly atMs: number; readonly abort: AbortController } | undefined;
  /** Workers that wait for a key. */
  readonly #takers = new Set<() => void>();
  #drained: (() => void)[] = [];
  #phase: 'closed' | 'open' | 'draining' = 'closed';

  constructor(deps: { readonly clock: Clock; readonly metrics: QueueMetrics }) {
    this.#clock = deps.clock;
    this.#metrics = deps.metrics;
    this.#retries = new RetryDelays(deps);
  }

  /** Keys that wait; those in work and the delayed ones do not count. */
  get depth(): number {
    return this.#waiting.size;
  }

  /** Keys that were added up to that monotonic instant wait or are in work. What came since does not count. */
  isBusyWith(untilMs: number): boolean {
    const [oldestMs = Infinity] = this.#waiting.values();
    return oldestMs <= untilMs || this.#inWork.values().some(({ addedMs }) => addedMs <= untilMs);
  }

  /** Nothing new comes in: what waits is worked off. */
  get isDraining(): boolean {
    return this.#phase === 'draining';
  }

  get delayed(): number {
    return this.#comingBack.size + this.#retrying.size;
  }

  open(): void {
    if (this.#phase === 'closed') this.#phase = 'open';
  }

  add(key: K): void {
    if (this.#phase !== 'open' || this.#waiting.has(key)) return;
    const inWork = this.#inWork.get(key);
    if (inWork?.again) return;
    this.#metrics.added();
    if (inWork) inWork.again = true;
    else this.#enqueue(key);
  }

  /** At an instant of the wall clock; at once when it has passed. The earlier of two wins. */
  addAt(key: K, at: number): void {
    if (this.#phase !== 'open') return;
    this.#comingBack.set(key, at);
    this.#arm();
  }

  addAfter(key: K, delayMs: number): void {
    if (this.#phase !== 'open') return;
    this.#retrying.set(key, this.#clock.monotonicMs() + delayMs);
    this.#arm();
  }

  /** After a failure, which counts for the key. */
  retry(key: K): void {
    this.addAfter(key, this.#retries.next(key));
  }

  failuresOf(key: K): number {
    return this.#retries.failuresOf(key);
  }

  /** The key succeeded, or is given up: its next failure is its first. */
  forget(key: K): void {
    this.#retries.forget(key);
  }

  /**
   * Waits for work and takes what is there, the oldest first and at most `max`; each key must be given back by `done`. Empty
   * when the signal aborts, or when a draining queue has nothing left.
   */
  async take(max: number, signal: AbortSignal): Promise<K[]> {
    while (this.#waiting.size === 0) {
      if (signal.aborted || this.#phase === 'draining') return [];
      await this.#arrival(signal);
    }
    if (signal.aborted) {
      // The wake-up was for any worker, so it is passed on.
      this.#wakeOne();
      return [];
    }
    const taken: K[] = [];
    while (taken.length < max && this.#waiting.size > 0) taken.push(this.#takeOldest());
    return taken;
  }

  /** The work on a key that was taken is over, well or not. */
  done(key: K): void {
    const inWork = this.#inWork.get(key);
    if (!inWork) return;
    this.#inWork.delete(key);
    this.#metrics.worked((this.#clock.monotonicMs() - inWork.sinceMs) / 1000);
    if (inWork.again) this.#enqueue(key);
    else this.#settleDrain();
  }

  /** Resolves with true when all that waited is done, with false after `withinMs`. */
  async drain(withinMs: number): Promise<boolean> {
    this.#phase = 'draining';
    this.#comingBack.clear();
    this.#retrying.clear();
    this.#alarm?.abort.abort();
    this.#alarm = undefined;
    for (const wake of this.#takers) wake();
    if (this.#isIdle()) return true;

    const isDone = new Promise<boolean>((resolve) => this.#drained.push(() => resolve(true)));
    return withinLimit({ clock: this.#clock, ms: withinMs }, () => isDone).catch(() => false);
  }

  #takeOldest(): K {
    let next = this.#arrivals.next();
    // An iterator that came to its end stays there; one that did not goes on with what arrived since.
    if (next.done) {
      this.#arrivals = this.#waiting.keys();
      next = this.#arrivals.next();
    }
    if (next.done) throw new Error('a key was taken from an empty queue');
    const key = next.value;
    const now = this.#clock.monotonicMs();
    const addedMs = this.#waiting.get(key) ?? now;
    this.#metrics.waited((now - addedMs) / 1000);
    this.#waiting.delete(key);
    this.#comingBack.delete(key);
    this.#retrying.delete(key);
    this.#inWork.set(key, { addedMs, sinceMs: now, again: false });
    return key;
  }

  #enqueue(key: K): void {
    this.#waiting.set(key, this.#clock.monotonicMs());
    this.#wakeOne();
  }

  #wakeOne(): void {
    for (const wake of this.#takers) return wake();
  }

  #arrival(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#takers.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      signal.addEventListener('abort', wake, { once: true });
      this.#takers.add(wake);
    });
  }

  #isIdle(): boolean {
    return this.#waiting.size === 0 && this.#inWork.size === 0;
  }

  #settleDrain(): void {
    if (this.#phase === 'draining' && this.#isIdle()) for (const settle of this.#drained.splice(0)) settle();
  }

  /** Sees to it that a worker wakes up for the earliest delayed key. */
  #arm(): void {
    const now = this.#clock.monotonicMs();
    const backInMs = (this.#comingBack.nextAt() ?? Infinity) - this.#clock.now();
    const retryInMs = (this.#retrying.nextAt() ?? Infinity) - now;
    const inMs = Math.min(backInMs, retryInMs);
    if (inMs === Infinity) return;
    const sleepMs = Math.min(Math.max(0, inMs), longestSleepMs);
    if (this.#alarm && this.#alarm.atMs <= now + sleepMs) return;

    this.#alarm?.abort.abort();
    const alarm = { atMs: now + sleepMs, abort: new AbortController() };
    this.#alarm = alarm;
    this.#clock.sleep(sleepMs, alarm.abort.signal).then(
      () => this.#ring(),
      () => {}, // An earlier alarm took its place.
    );
  }

  #ring(): void {
    this.#alarm = undefined;
    for (const key of this.#comingBack.takeDue(this.#clock.now())) this.add(key);
    for (const key of this.#retrying.takeDue(this.#clock.monotonicMs())) this.add(key);
    this.#arm();
  }
}

const firstDelayMs = 5;
const longestDelayMs = 1_000_000;
/** The bucket that all keys share: a token each 100 ms, 100 at once. */
const tokenMs = 100;
const bucketSize = 100;

/**
 * How long a key waits after a failure: the longer of its own delay (5 ms, doubling to 1,000 s) and its turn in a bucket that
 * all keys share (10 a second, 100 at once), so that ten thousand failing keys do not come back together.
 */
export class RetryDelays<K> {
  readonly #clock: Clock;
  readonly #failures = new Map<K, number>();
  /** Monotonic instant at which the bucket is full again; every retry moves it by one token. */
  #fullAtMs = 0;

  constructor(deps: { readonly clock: Clock }) {
    this.#clock = deps.clock;
  }

  /** Counts one more failure of the key: the milliseconds to wait. */
  next(key: K): number {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.set(key, failures + 1);
    // The exponent is bounded, for 2 ** 1100 is Infinity and Infinity is no delay.
    const ownMs = Math.min(firstDelayMs * 2 ** Math.min(failures, 40), longestDelayMs);
    return Math.max(ownMs, this.#takeToken());
  }

  failuresOf(key: K): number {
    return this.#failures.get(key) ?? 0;
  }

  /** The key succeeded, or is given up. */
  forget(key: K): void {
    this.#failures.delete(key);
  }

  #takeToken(): number {
    const now = this.#clock.monotonicMs();
    this.#fullAtMs = Math.max(this.#fullAtMs, now) + tokenMs;
    return Math.max(0, this.#fullAtMs - now - bucketSize * tokenMs);
  }
}

interface Due<K> {
  readonly key: K;
  readonly at: number;
}

/**
 * Keys that wait for their instant, the earliest first. A key waits once: of two instants the earlier one counts. What an
 * instant is (wall clock or monotonic) is the caller's, who must not mix the two.
 */
export class DelayedKeys<K> {
  readonly #at = new Map<K, number>();
  /** Binary heap. An entry whose instant is not that of the map is outdated, and is dropped when it comes up. */
  readonly #heap: Due<K>[] = [];

  get size(): number {
    return this.#at.size;
  }

  set(key: K, at: number): void {
    const earlier = this.#at.get(key);
    if (earlier !== undefined && earlier <= at) return;
    this.#at.set(key, at);
    this.#heap.push({ key, at });
    this.#rise(this.#heap.length - 1);
  }

  /** The key need not come any more: it is being seen to. */
  delete(key: K): void {
    this.#at.delete(key);
    if (this.#at.size === 0) this.#heap.length = 0;
  }

  /** Undefined when nothing waits. */
  nextAt(): number | undefined {
    for (;;) {
      const [first] = this.#heap;
      if (!first || this.#at.get(first.key) === first.at) return first?.at;
      this.#pop();
    }
  }

  /** Takes out the keys whose instant has come. */
  takeDue(now: number): K[] {
    const due: K[] = [];
    for (let at = this.nextAt(); at !== undefined && at <= now; at = this.nextAt()) {
      const first = this.#pop();
      if (!first) break;
      this.#at.delete(first.key);
      due.push(first.key);
    }
    return due;
  }

  clear(): void {
    this.#at.clear();
    this.#heap.length = 0;
  }

  #pop(): Due<K> | undefined {
    const [first] = this.#heap;
    const last = this.#heap.pop();
    if (first && last && this.#heap.length > 0) {
      this.#heap[0] = last;
      this.#sink();
    }
    return first;
  }

  #rise(from: number): void {
    for (let child = from; child > 0;) {
      const parent = (child - 1) >> 1;
      if (!this.#swapIfEarlier(child, parent)) return;
      child = parent;
    }
  }

  #sink(): void {
    for (let parent = 0; ;) {
      const left = parent * 2 + 1;
      const right = left + 1;
      const child = (this.#heap[right]?.at ?? Infinity) < (this.#heap[left]?.at ?? Infinity) ? right : left;
      if (!this.#swapIfEarlier(child, parent)) return;
      parent = child;
    }
  }

  #swapIfEarlier(child: number, parent: number): boolean {
    const below = this.#heap[child];
    const above = this.#heap[parent];
    if (!below || !above || below.at >= above.at) return false;
    this.#heap[child] = above;
    this.#heap[parent] = below;
    return true;
  }
}
