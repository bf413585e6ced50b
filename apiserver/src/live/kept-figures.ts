import type { Instant } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';

/** Counts the figures of CronJobs, those of the window before only if they are wanted. */
export type CountFigures<F> = (
  ids: readonly number[],
  now: Instant,
  wanted: { readonly withPrevious: boolean },
) => Promise<ReadonlyMap<number, F>>;

/** Figures of CronJobs, counted once while nothing changes and their windows have the same runs. */
export interface KeptFigures<F> {
  /** Figures of these, no older than what was forgotten before. Only those of CronJobs that are known are kept. */
  read(
    ids: readonly number[],
    wanted: { readonly withPrevious: boolean },
    isKnown: (id: number) => boolean,
  ): Promise<ReadonlyMap<number, F>>;
  /** They are counted again before they are given. */
  forget(ids: readonly number[]): void;
  /** The same of all. */
  forgetAll(): void;
}

const minuteMs = 60_000;
/** All are counted anew every 10 minutes, and so with each UTC day. */
const allEveryMs = 10 * minuteMs;

interface Counted<F> {
  readonly figures: F;
  readonly withPrevious: boolean;
  readonly untilAt: Instant;
}

export function createKeptFigures<F>({
  clock,
  count,
  isTold = () => true,
  holdUntilAt = (_, now) => (Math.floor(now / minuteMs) + 1) * minuteMs,
}: {
  readonly clock: Clock;
  readonly count: CountFigures<F>;
  /** Whether every change of these figures is told: only then they are kept. */
  readonly isTold?: (figures: F) => boolean;
  /** Until when figures that were counted at `now` are the same; absent: until the minute is over, to which windows are cut. */
  readonly holdUntilAt?: (figures: F, now: Instant) => Instant;
}): KeptFigures<F> {
  /** Counted from 1970. */
  let period: number | undefined;
  let counted = new Map<number, Counted<F>>();
  /** How many times something was forgotten, and of each CronJob the last time. */
  let times = 0;
  let allForgottenAt = 0;
  const forgottenAt = new Map<number, number>();
  let turn: Promise<unknown> = Promise.resolve();

  async function readMissing(
    ...[ids, wanted, isKnown]: Parameters<KeptFigures<F>['read']>
  ): Promise<ReadonlyMap<number, F>> {
    const now = clock.now();
    const periodNow = Math.floor(now / allEveryMs);
    if (period !== periodNow) {
      period = periodNow;
      counted = new Map();
    }
    const kept = counted;
    const figures = new Map<number, F>();
    const missing: number[] = [];
    for (const id of ids) {
      const found = kept.get(id);
      if (found && now < found.untilAt && (found.withPrevious || !wanted.withPrevious)) figures.set(id, found.figures);
      else missing.push(id);
    }
    if (missing.length === 0) return figures;
    const begunAt = times;
    const fresh = await count(missing, now, wanted);
    for (const [id, ofOne] of fresh) {
      figures.set(id, ofOne);
      // What was forgotten meanwhile may have been counted before it changed.
      const isCurrent = Math.max(allForgottenAt, forgottenAt.get(id) ?? 0) <= begunAt;
      if (isCurrent && isKnown(id) && isTold(ofOne))
        kept.set(id, { figures: ofOne, withPrevious: wanted.withPrevious, untilAt: holdUntilAt(ofOne, now) });
    }
    return figures;
  }

  return {
    read(...asked) {
      const read = turn.then(() => readMissing(...asked));
      turn = read.catch(() => {}); // the caller meets the error
      return read;
    },
    forget(ids) {
      times++;
      for (const id of ids) {
        forgottenAt.set(id, times);
        counted.delete(id);
      }
    },
    forgetAll() {
      allForgottenAt = ++times;
      forgottenAt.clear();
      counted = new Map();
    },
  };
}
