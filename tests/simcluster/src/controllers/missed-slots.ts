import type { CronRule } from '../schedule/cron-text.ts';
import { nextDue } from '../schedule/due-minutes.ts';

/** How long after a slot its timer wakes the controller. */
export const slotDelayMs = 100;
/** Beyond so many missed slots the controller complains. */
const manyMissed = 100;

export interface SlotFacts {
  readonly rule: CronRule;
  readonly zone: string;
  readonly createdAt: number;
  readonly lastScheduledAt: number | undefined;
  readonly startingDeadlineSeconds: number | undefined;
}

interface MissedSlots {
  /** The newest slot that is due and not met; undefined when none is. */
  readonly newestAt: number | undefined;
  readonly tooMany: boolean;
}

/** A rule that is never due. */
export class NeverDueError extends Error {}

interface Recent extends MissedSlots {
  readonly earliestAt: number;
}

/** The slots between the last one that was met and now. Throws `NeverDueError`. */
export function missedSlots(facts: SlotFacts, now: number): MissedSlots {
  return mostRecent(facts, now, true);
}

/** When the controller must look again: a little after the next slot. Undefined: there is none. */
export function nextLookAt(facts: SlotFacts, now: number): number | undefined {
  const { rule, zone } = facts;
  let from = now;
  try {
    const recent = mostRecent(facts, now, false);
    from = recent.newestAt ?? (recent.tooMany ? now : recent.earliestAt);
  } catch (error) {
    // It still has to look again at some point, so it aims for the next slot from now.
    if (!(error instanceof NeverDueError)) throw error;
  }
  const next = nextDue(rule, zone, from);
  return next === undefined ? undefined : next + slotDelayMs;
}

/**
 * The newest slot is guessed from the gap between the first two, as the real controller does; on an irregular schedule
 * after a long pause the guess may find none.
 */
function mostRecent(facts: SlotFacts, now: number, withDeadline: boolean): Recent {
  const { rule, zone } = facts;
  let earliestAt = facts.lastScheduledAt ?? facts.createdAt;
  if (withDeadline && facts.startingDeadlineSeconds !== undefined) {
    earliestAt = Math.max(earliestAt, now - facts.startingDeadlineSeconds * 1000);
  }
  const first = nextDue(rule, zone, earliestAt);
  const second = first === undefined ? undefined : nextDue(rule, zone, first);
  if (first !== undefined && now < first) return { earliestAt, newestAt: undefined, tooMany: false };
  if (first !== undefined && second !== undefined && now < second)
    return { earliestAt, newestAt: first, tooMany: false };
  if (first === undefined || second === undefined) {
    throw new NeverDueError('time difference between two schedules is less than 1 second');
  }
  const gapSeconds = Math.round((second - first) / 1000);
  const missed = Math.floor(Math.floor((now - first) / 1000) / gapSeconds) + 1;
  let newestAt: number | undefined;
  const start = first + (missed - 2) * gapSeconds * 1000;
  for (let at = nextDue(rule, zone, start); at !== undefined && at <= now; at = nextDue(rule, zone, at)) newestAt = at;
  return { earliestAt, newestAt, tooMany: missed > manyMissed };
}
