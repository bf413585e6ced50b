import { setTimeout as wait } from 'node:timers/promises';
import type { Clock } from '@cronjob-monitor/shared/process';

interface Sleeper {
  readonly wakesAtMs: number;
  /** What it asked for: short ones are polls. */
  readonly askedMs: number;
  isGone: boolean;
  readonly wake: () => void;
}

/** What the clock has to know of the world to jump over quiet time without jumping over work. */
export interface Surroundings {
  /** Real input and output is under way, such as a statement of a database server: time stands still until it has ended. */
  readonly isBusy: () => boolean;
  /** The next instant at which something is due although no long sleep says so, such as a row of the outbox; Infinity: nothing. */
  readonly nextDueAt: () => Promise<number>;
}

/** After something happened every poll has its beats for so long; then only what is due moves time. */
const wakefulMs = 1_300;
/** Over quiet time a long sleep may last a little longer, so that many end together: no timer of a machine is exact. */
const mostLateMs = 25_000;
/** Polls have a beat at least so often. */
const pollAtLeastMs = 300_000;
/** Sleeps shorter than that are polls: over quiet time they are left out, as on a machine that stood still. */
const pollMs = 5_000;
/** A statement that takes more turns than that is waited for: turns without a pause take the processor from the server that answers. */
const mostTurnsInRow = 10;

/**
 * Time that jumps from one event to the next. While something happens every timer is woken at its own instant, in order. Over quiet time the
 * short polls are left out, since a poll that finds nothing changes nothing: time then goes to the next long sleep, to what is due, or to the
 * end that the caller names.
 */
export class VirtualTime {
  #nowMs: number;
  readonly #startMs: number;
  #wakefulUntilMs: number;
  #polledMs: number;
  readonly #longs = new Sleepers();
  readonly #polls = new Sleepers();
  /** Jumps, for figures. */
  jumps = 0;

  /** `startAt`: epoch milliseconds. */
  constructor(startAt: number) {
    this.#nowMs = startAt;
    this.#startMs = startAt - 1_000;
    this.#wakefulUntilMs = startAt + wakefulMs;
    this.#polledMs = startAt;
  }

  get now(): number {
    return this.#nowMs;
  }

  /** Something happened: the polls look. */
  stir(): void {
    this.#wakefulUntilMs = this.#nowMs + wakefulMs;
  }

  /** A clock of this time whose wakings end when `signal` aborts: of a process that is killed. */
  clockUntil(signal: AbortSignal): Clock {
    const isDead = (): boolean => signal.aborted;
    const sleep = (ms: number, asking?: AbortSignal): Promise<void> => this.#sleep(ms, asking, isDead);
    const now = (): number => this.#nowMs;
    const monotonicMs = (): number => this.#nowMs - this.#startMs;
    return {
      now,
      monotonicMs,
      sleep,
      every(ms, fn, ending) {
        const beat = async (): Promise<void> => {
          for (let dueMs = monotonicMs() + ms; ; dueMs += ms * (Math.floor((monotonicMs() - dueMs) / ms) + 1)) {
            await sleep(Math.max(0, dueMs - monotonicMs()), ending);
            try {
              await fn();
            } catch {
              // As the real clock: one failure stops nothing.
            }
          }
        };
        beat().catch(() => {}); // the signal ended it
      },
    };
  }

  /** Lets everything happen up to `untilAt`, and stands there. */
  async runUntil(untilAt: number, around: Surroundings): Promise<void> {
    for (;;) {
      await this.#settle(around);
      const isWakeful = this.#nowMs < this.#wakefulUntilMs;
      const next = isWakeful ? this.#nextWakingAt() : await this.#nextInQuiet(around);
      const toMs = Math.ceil(Math.max(this.#nowMs, Math.min(next, untilAt)));
      this.#nowMs = toMs;
      this.jumps++;
      const polls = isWakeful || toMs >= this.#polledMs + pollAtLeastMs;
      if (polls) this.#polledMs = toMs;
      const woken = wakeDue(this.#longs, toMs) + (polls ? wakeDue(this.#polls, toMs) : 0);
      if (woken === 0 && toMs >= untilAt) return;
    }
  }

  #nextWakingAt(): number {
    return Math.min(this.#longs.first?.wakesAtMs ?? Infinity, this.#polls.first?.wakesAtMs ?? Infinity);
  }

  async #nextInQuiet({ nextDueAt }: Surroundings): Promise<number> {
    const dueAt = await nextDueAt();
    if (this.#nowMs < this.#wakefulUntilMs) return this.#nextWakingAt();
    const pollAt = this.#polls.first ? this.#polledMs + pollAtLeastMs : Infinity;
    // What is due already waits for something else than time: it is looked at with the next polls.
    if (dueAt > this.#nowMs && dueAt < pollAt) {
      const at = Math.min(dueAt, this.#longs.latest());
      if (at === dueAt) this.#wakefulUntilMs = dueAt + wakefulMs;
      return at;
    }
    return Math.min(pollAt, this.#longs.latest());
  }

  #sleep(ms: number, asking: AbortSignal | undefined, isDead: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      if (asking?.aborted) return reject(asking.reason);
      const end = (settle: () => void): void => {
        sleeper.isGone = true;
        asking?.removeEventListener('abort', onAbort);
        if (!isDead()) settle();
      };
      const onAbort = (): void => end(() => reject(asking?.reason));
      const sleeper: Sleeper = {
        wakesAtMs: this.#nowMs + Math.max(0, ms),
        askedMs: ms,
        isGone: false,
        wake: () => end(resolve),
      };
      (ms < pollMs ? this.#polls : this.#longs).push(sleeper);
      asking?.addEventListener('abort', onAbort, { once: true });
    });
  }

  /** Resolves when nothing goes on any more that is not waiting for time. */
  async #settle({ isBusy }: Surroundings): Promise<void> {
    for (let quiet = 0, busy = 0; quiet < 2;) {
      await (busy < mostTurnsInRow ? nextTurn() : wait(1));
      busy = isBusy() ? busy + 1 : 0;
      quiet = busy > 0 || process.getActiveResourcesInfo().includes('Immediate') ? 0 : quiet + 1;
    }
  }
}

/** Sleepers in the order in which they wake; there are never many. */
class Sleepers {
  readonly #sorted: Sleeper[] = [];

  get first(): Sleeper | undefined {
    while (this.#sorted[0]?.isGone) this.#sorted.shift();
    return this.#sorted[0];
  }

  /** Until when the next jump may go, if each of them may sleep a little longer. */
  latest(): number {
    let latestMs = Infinity;
    for (const { isGone, wakesAtMs, askedMs } of this.#sorted)
      if (!isGone) latestMs = Math.min(latestMs, wakesAtMs + Math.min(mostLateMs, askedMs / 2));
    return latestMs;
  }

  push(sleeper: Sleeper): void {
    const before = this.#sorted.findLastIndex(({ wakesAtMs }) => wakesAtMs <= sleeper.wakesAtMs);
    this.#sorted.splice(before + 1, 0, sleeper);
  }

  /** Those that are due, in order: they sleep no more. */
  *takeDue(nowMs: number): Generator<Sleeper> {
    for (let next = this.first; next && next.wakesAtMs <= nowMs; next = this.first) {
      this.#sorted.shift();
      yield next;
    }
  }
}

/** Wakes what is due, in order, and says how many. */
function wakeDue(sleepers: Sleepers, nowMs: number): number {
  let woken = 0;
  for (const { wake } of sleepers.takeDue(nowMs)) {
    wake();
    woken++;
  }
  return woken;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
