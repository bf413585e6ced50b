import type { Baseline } from '../detect/duration-regression.ts';
import { factsReach } from '../detect/facts-reach.ts';
import type { Instant } from '../instant.ts';
import { nearestRank } from '../stats/percentile.ts';
import { dayMs, dayOf } from '../duration.ts';

/** A baseline looks at so many runs at most. */
const mostRuns = 5_000;

interface Success {
  readonly createdAt: Instant;
  readonly finishedAt: Instant;
  readonly durationMs: number;
}

/**
 * What a duration regression compares, over time: the newest successes and the baseline before them. A run enters the baseline once and leaves it once, so
 * that an answer costs what has changed since the one before, and not the whole window.
 */
export class ShiftOverTime {
  /** In the order of their ends. */
  readonly #all: Success[] = [];
  /** Durations of the baseline, rising, and between which runs it lies. */
  #rising: number[] = [];
  #oldest = 0;
  #until = 0;
  #sinceDay: number | undefined;
  /** Where the last 24 hours begin. */
  #lastDay = 0;

  /** A success that counts; in the order of their ends. */
  learn(createdAt: Instant, finishedAt: Instant, durationMs: number): void {
    this.#all.push({ createdAt, finishedAt, durationMs });
  }

  /** What is compared at `now`, which never goes back. */
  at(
    now: Instant,
    baselineWindowMs: number,
  ): { readonly recentMs: readonly number[]; readonly newestEndAt: Instant | undefined; readonly baseline: Baseline } {
    const { length } = this.#all;
    while ((this.#all[this.#lastDay]?.finishedAt ?? Infinity) <= now - dayMs) this.#lastDay++;
    const recentCount = Math.min(length, Math.max(factsReach.recentRuns, Math.min(mostRuns, length - this.#lastDay)));
    const until = length - recentCount;
    const newestCreatedAt = this.#all[length - factsReach.recentRuns]?.createdAt ?? now;
    const sinceDay = Math.min(dayOf(now - dayMs), dayOf(newestCreatedAt)) - Math.ceil(baselineWindowMs / dayMs);
    this.#move(until, length, sinceDay);
    const rank = (p: number): number => nearestRank(this.#rising, p) ?? 0;
    return {
      recentMs: this.#all
        .slice(until)
        .reverse()
        .map(({ durationMs }) => durationMs),
      newestEndAt: this.#all.at(-1)?.finishedAt,
      baseline: { runs: this.#rising.length, p25: rank(0.25), p75: rank(0.75), p95: rank(0.95) },
    };
  }

  /** Takes in what the baseline gained, and lets go of what it lost. */
  #move(until: number, length: number, sinceDay: number): void {
    const oldest = Math.max(0, length - mostRuns);
    const isIn = (index: number, end: number, day: number): boolean => {
      const run = this.#all[index];
      return run !== undefined && (index >= end - factsReach.baselineRuns || dayOf(run.createdAt) >= day);
    };
    // A day later many leave at once.
    if (this.#sinceDay !== sinceDay || until < this.#until) {
      this.#rising = [];
      for (let index = oldest; index < until; index++)
        if (isIn(index, until, sinceDay)) this.#rising.push(this.#all[index]?.durationMs ?? 0);
      this.#rising.sort((a, b) => a - b);
    } else {
      for (let index = this.#oldest; index < Math.min(oldest, this.#until); index++)
        if (isIn(index, this.#until, sinceDay)) this.#remove(this.#all[index]?.durationMs ?? 0);
      // Of those that were in for being among the last so many, some are that no longer.
      const [wasFirst, isFirst] = [this.#until - factsReach.baselineRuns, until - factsReach.baselineRuns];
      for (let index = Math.max(oldest, wasFirst); index < Math.min(isFirst, this.#until); index++)
        if (!isIn(index, until, sinceDay)) this.#remove(this.#all[index]?.durationMs ?? 0);
      for (let index = Math.max(oldest, this.#until); index < until; index++)
        if (isIn(index, until, sinceDay)) this.#insert(this.#all[index]?.durationMs ?? 0);
    }
    this.#oldest = oldest;
    this.#sinceDay = sinceDay;
    this.#until = until;
  }

  #insert(durationMs: number): void {
    this.#rising.splice(this.#placeOf(durationMs), 0, durationMs);
  }

  #remove(durationMs: number): void {
    this.#rising.splice(this.#placeOf(durationMs), 1);
  }

  /** Where the first that is not less stands. */
  #placeOf(durationMs: number): number {
    let [low, high] = [0, this.#rising.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#rising[middle] ?? 0) < durationMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
