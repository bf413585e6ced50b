import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

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
}

export interface MissedScheduleFacts {
  /** Newest slot first, back to the last started one at least. Slots of other outcomes neither count nor break a row. */
  readonly slots: readonly JudgedSlot[];
  /** The CronJob is suspended and its monitor pauses then. */
  readonly paused: boolean;
}

/** Opens when so many expected runs in a row did not start; a later slot that starts ends it. */
export function missedSchedule(rule: MissedScheduleRule, facts: MissedScheduleFacts): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  if (facts.paused) return quiet('paused');
  const startedAt = facts.slots.findIndex(({ outcome }) => outcome === 'matched' || outcome === 'late');
  const unmet = startedAt < 0 ? facts.slots : facts.slots.slice(0, startedAt);
  const missed = unmet.filter(({ outcome }) => outcome === 'missed');
  const skipped = unmet.filter(({ outcome }) => outcome !== 'missed');

  if (missed.length >= rule.threshold) return row(missed, 'missed', rule.threshold);
  if (rule.skipWarnAfter !== undefined && skipped.length >= rule.skipWarnAfter)
    return row(skipped, 'skipped', rule.skipWarnAfter);
  return quiet(missed.length > 0 ? 'belowThreshold' : 'startedInTime');
}

function row(slots: readonly JudgedSlot[], reason: string, limit: number): Verdict {
  const [last] = slots;
  const first = slots.at(-1);
  if (!last || !first) return quiet('startedInTime');
  return holds({
    since: first.at,
    reason,
    count: slots.length,
    figures: { measured: slots.length, limit, unit: 'runs' },
    detail: { firstSlotAt: first.at, lastSlotAt: last.at, cause: last.cause },
  });
}
