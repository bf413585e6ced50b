import type { Instant } from '../instant.ts';
import { firmly, type PassedLevel, type Suspension } from './passed-level.ts';
import { holds, quiet, type Verdict } from './verdict.ts';

export interface DeadManRule {
  readonly enabled: boolean;
  /** Wins over `auto`. */
  readonly maxSinceSuccessMs: number | undefined;
  readonly auto: { readonly bufferMs: number; readonly missedScheduleThreshold: number } | undefined;
  readonly pauseMonitoring: boolean;
}

export interface DeadManFacts {
  readonly suspended: boolean;
  /** Newest success of any kind, inferred ones and `lastSuccessfulTime` included. */
  readonly lastSuccessAt: Instant | undefined;
  /** End of the last suspension. */
  readonly resumedAt: Instant | undefined;
  /** p95 duration of the last 20 successes; undefined below 5. */
  readonly p95DurationMs: number | undefined;
  /** The n-th expected run after an instant, in the CronJob's own zone; undefined when none comes. */
  readonly nthSlotAfter: (after: Instant, n: number) => Instant | undefined;
}

/**
 * Holds when no run has succeeded for too long: a fixed time, or the n-th expected run after the last success and a buffer. It needs
 * one earlier success, and counts from the resume of a paused CronJob when that is later. Running and failed Jobs move nothing.
 * `since` is the instant the limit was passed. Spec 2.1 and 3.
 */
export function deadManTriggered(rule: DeadManRule, facts: DeadManFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  if (facts.suspended && rule.pauseMonitoring) return quiet('paused');
  if (facts.lastSuccessAt === undefined) return quiet('neverSucceeded');

  const countsFrom = rule.pauseMonitoring ? Math.max(facts.lastSuccessAt, facts.resumedAt ?? 0) : facts.lastSuccessAt;
  const dueAt = deadManDueAt(rule, facts, countsFrom);
  if (dueAt === undefined) return quiet('neverDue');
  if (now < dueAt) return quiet('withinLimit', dueAt);
  return noSuccess({ dueAt, countsFrom, lastSuccessAt: facts.lastSuccessAt }, now);
}

/** What is known of the past of a dead-man's switch. */
export interface DeadManPast extends Pick<DeadManFacts, 'nthSlotAfter'> {
  /** Of any kind, in the order of their end. */
  readonly successes: readonly {
    readonly jobName: string;
    readonly endedAt: Instant;
    /** p95 duration of the 20 successes up to and with this one; undefined below 5. */
    readonly p95DurationMs: number | undefined;
  }[];
  /** In order. */
  readonly suspensions: readonly Suspension[];
}

/**
 * Each time that the limit was passed and a later success ended it, or a suspension where that pauses the monitor. What was due at the very
 * instant of the success was in time.
 */
export function deadMenPassed(rule: DeadManRule, past: DeadManPast): PassedLevel[] {
  if (!rule.enabled) return [];
  const passed: PassedLevel[] = [];
  for (const [index, success] of past.successes.entries()) {
    const next = past.successes[index + 1];
    let countsFrom = success.endedAt;
    const isWithin = ({ fromAt, toAt }: Suspension): boolean =>
      fromAt < (next?.endedAt ?? Infinity) && (toAt ?? Infinity) > success.endedAt;
    const pauses = rule.pauseMonitoring ? past.suspensions.filter(isWithin) : [];
    const stops = pauses.map(({ fromAt: at, toAt }) => ({ at, countsAgainFrom: toAt, by: undefined }));
    for (const { at, countsAgainFrom, by } of next
      ? [...stops, { at: next.endedAt, countsAgainFrom: undefined, by: next }]
      : stops) {
      const facts = { ...past, p95DurationMs: success.p95DurationMs };
      const dueAt = at > countsFrom ? deadManDueAt(rule, facts, countsFrom) : undefined;
      if (dueAt !== undefined && dueAt < at) {
        const verdict = firmly(noSuccess({ dueAt, countsFrom, lastSuccessAt: success.endedAt }, at));
        const type = 'deadManTriggered';
        passed.push({
          type,
          subject: undefined,
          verdict,
          beganAt: countsFrom,
          endedAt: at,
          by,
          isPause: by === undefined,
        });
      }
      countsFrom = Math.max(countsFrom, countsAgainFrom ?? Infinity);
    }
  }
  return passed;
}

function noSuccess(
  {
    dueAt,
    countsFrom,
    lastSuccessAt,
  }: { readonly dueAt: Instant; readonly countsFrom: Instant; readonly lastSuccessAt: Instant },
  now: Instant,
): Verdict {
  return holds({
    since: dueAt,
    reason: 'noSuccessWithin',
    figures: { measured: (now - countsFrom) / 1000, limit: (dueAt - countsFrom) / 1000, unit: 'seconds' },
    detail: { lastSuccessAt, countsFromAt: countsFrom },
  });
}

function deadManDueAt(
  rule: DeadManRule,
  facts: Pick<DeadManFacts, 'p95DurationMs' | 'nthSlotAfter'>,
  countsFrom: Instant,
): Instant | undefined {
  if (rule.maxSinceSuccessMs !== undefined) return countsFrom + rule.maxSinceSuccessMs;
  if (!rule.auto) return undefined;
  const slotAt = facts.nthSlotAfter(countsFrom, rule.auto.missedScheduleThreshold);
  return slotAt === undefined ? undefined : slotAt + (facts.p95DurationMs ?? 0) + rule.auto.bufferMs;
}
