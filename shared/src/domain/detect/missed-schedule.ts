import type { Fault } from '../execution/fault.ts';
import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import type { PassedLevel, Suspension } from './passed-level.ts';

export interface MissedScheduleRule {
  readonly enabled: boolean;
  /** Missed slots in a row before the alert. */
  readonly threshold: number;
  /** Skipped slots in a row that open it too; undefined: never. */
  readonly skipWarnAfter: number | undefined;
}

/** A judged slot that counts here, or the run of one. */
export interface JudgedSlot {
  readonly at: Instant;
  readonly outcome: 'matched' | 'late' | 'missed' | 'skippedForbid' | 'skippedDeadline';
  readonly cause: string | undefined;
  readonly fault?: Fault | undefined;
  /** What the cluster said as it refused to create the Job. */
  readonly refusal?: string | undefined;
  /** When the Job of one that was started was created. */
  readonly startedAt?: Instant | undefined;
}

export interface MissedScheduleFacts {
  /** Newest slot first, back to the last started one at least. Slots of other outcomes neither count nor break a row. */
  readonly slots: readonly JudgedSlot[];
  /** There are older slots than these. */
  readonly isCut?: boolean | undefined;
  /** The CronJob is suspended and its monitor pauses then. */
  readonly paused: boolean;
  /** Each time that it was, in order: what was due before one is over, and is not told anew as the CronJob resumes. Absent: none. */
  readonly pauses?: readonly Suspension[] | undefined;
}

/** Opens when so many expected runs in a row did not start; a later slot that starts ends it. */
export function missedSchedule(rule: MissedScheduleRule, facts: MissedScheduleFacts): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  if (facts.paused) return quiet('paused');
  const pausedFrom = facts.pauses?.at(-1)?.fromAt ?? -Infinity;
  const isBehind = ({ at, outcome }: JudgedSlot): boolean =>
    outcome === 'matched' || outcome === 'late' || at < pausedFrom;
  const behind = facts.slots.findIndex(isBehind);
  const unmet = behind < 0 ? facts.slots : facts.slots.slice(0, behind);
  const missed = unmet.filter(({ outcome }) => outcome === 'missed');
  const skipped = unmet.filter(({ outcome }) => outcome !== 'missed');

  const ofSkips = row(skipped, 'skipped', rule.skipWarnAfter);
  const ofMisses = row(missed, 'missed', rule.threshold);
  if (!ofMisses)
    return ofSkips?.verdict ?? quiet(missed[0] ? 'belowThreshold' : facts.slots[0] ? 'startedInTime' : 'noRun');
  // The row that was long enough first opened it: the other one is its later news.
  const isOfSkips = ofSkips !== undefined && ofSkips.longEnoughAt < ofMisses.longEnoughAt;
  return isOfSkips ? { ...ofMisses.verdict, since: ofSkips.verdict.since } : ofMisses.verdict;
}

/**
 * Each time that so many expected runs in a row did not start and a later one did, or the CronJob was suspended where that pauses its monitor.
 * A row of misses that began before the oldest known slot is left out: an alert tells of it already.
 */
export function missesPassed(
  rule: MissedScheduleRule,
  { slots, isCut, pauses = [] }: MissedScheduleFacts,
): PassedLevel[] {
  const passed: PassedLevel[] = [];
  const ahead = [...pauses];
  let unmet: JudgedSlot[] = [];
  let isWhole = isCut !== true;
  const end = (endedAt: Instant, cause: PassedLevel['cause']): void => {
    const verdict = isWhole ? missedSchedule(rule, { slots: unmet, paused: false }) : quiet('belowThreshold');
    const beganAt = (unmet.at(-1)?.at ?? endedAt) - 1;
    if (verdict.kind === 'holds')
      passed.push({ type: 'missedSchedule', subject: undefined, verdict, beganAt, endedAt, by: undefined, cause });
    unmet = [];
    isWhole = true;
  };
  const pauseUntil = (at: Instant): void => {
    for (let next = ahead[0]; next && next.fromAt <= at; next = ahead[0]) {
      ahead.shift();
      if (unmet.length > 0) end(next.fromAt, 'paused');
    }
  };
  for (const slot of slots.toReversed()) {
    pauseUntil(slot.at);
    if (slot.outcome === 'matched' || slot.outcome === 'late') end(slot.startedAt ?? slot.at, undefined);
    else unmet.unshift(slot);
  }
  pauseUntil(Infinity);
  return passed;
}

/** Undefined: it is shorter than its limit, or has none. */
function row(slots: readonly JudgedSlot[], reason: string, limit = Infinity) {
  const [first, longEnough, last] = [slots.at(-1), slots.at(-limit), slots[0]];
  if (!last || !first || !longEnough || slots.length < limit) return undefined;
  const refusal = slots.find((slot) => slot.refusal !== undefined)?.refusal;
  const verdict = holds({
    since: first.at,
    reason,
    count: slots.length,
    figures: { measured: slots.length, limit, unit: 'runs' },
    detail: { firstSlotAt: first.at, lastSlotAt: last.at, cause: last.cause, fault: last.fault, refusal },
  });
  return { verdict, longEnoughAt: longEnough.at };
}
