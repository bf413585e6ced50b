import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import { firmly, type PassedLevel, type Suspension } from './passed-level.ts';

export interface DeadManRule {
  readonly enabled: boolean;
  /** Wins over `auto`. */
  readonly maxSinceSuccessMs: number | undefined;
  readonly auto: { readonly bufferMs: number; readonly missedScheduleThreshold: number } | undefined;
  /** A CronJob without any success is told of too, as absent/neverSucceeded. */
  readonly fromCreation: boolean;
  readonly pauseMonitoring: boolean;
}

export interface DeadManFacts {
  readonly suspended: boolean;
  /** Newest success of any kind, inferred ones and `lastSuccessfulTime` included. */
  readonly lastSuccessAt: Instant | undefined;
  /** From when on the monitor judges the CronJob: until its first success everything is counted from here. */
  readonly originAt: Instant;
  /** End of the last suspension. */
  readonly resumedAt: Instant | undefined;
  /** p95 duration of the last 20 successes; undefined below 5. */
  readonly p95DurationMs: number | undefined;
  /** The n-th expected run after an instant, in the CronJob's own zone; undefined when none comes. */
  readonly nthSlotAfter: (after: Instant, n: number) => Instant | undefined;
  /** What became of the runs of a CronJob without a success; undefined: it has one, or that is not known. */
  readonly unsuccessful?:
    | {
        readonly failed: number;
        /** Replaced or deleted before their end; undefined: that is not counted. */
        readonly stopped?: number | undefined;
        readonly running: number | undefined;
      }
    | undefined;
}

/**
 * Holds when no run has succeeded for too long: a fixed time, or the n-th expected run after the last success and a buffer. It needs
 * one earlier success, and counts from the resume of a paused CronJob when that is later. Running and failed Jobs move nothing.
 * `since` is the instant the limit was passed. Spec 2.1 and 3.
 */
export function deadManTriggered(rule: DeadManRule, facts: DeadManFacts, now: Instant): Verdict {
  if (!rule.enabled) return quiet('notConfigured');
  if (facts.suspended && rule.pauseMonitoring) return quiet('paused');
  if (facts.lastSuccessAt === undefined) return quiet('noSuccessToCountFrom');

  const countsFrom = rule.pauseMonitoring ? Math.max(facts.lastSuccessAt, facts.resumedAt ?? 0) : facts.lastSuccessAt;
  const dueAt = switchDueAt(rule, facts, countsFrom);
  if (dueAt === undefined) return quiet('neverDue');
  if (now < dueAt) return quiet('withinLimit', dueAt);
  return noSuccess({ dueAt, countsFrom, lastSuccessAt: facts.lastSuccessAt }, now);
}

/**
 * Holds when a CronJob that never succeeded had the time that the dead-man's switch allows since its first run was due: the first at or
 * after the instant from which on it is judged, or after its resume when that is later. The first success ends it and arms the switch.
 */
export function neverSucceeded(rule: DeadManRule, facts: DeadManFacts, now: Instant): Verdict {
  if (!rule.enabled || !rule.fromCreation) return quiet('notConfigured');
  if (facts.lastSuccessAt !== undefined) return quiet('hasSucceeded');
  if (facts.suspended && rule.pauseMonitoring) return quiet('paused');

  const countsFrom = rule.pauseMonitoring ? Math.max(facts.originAt, facts.resumedAt ?? 0) : facts.originAt;
  const first = firstDue(rule, facts, countsFrom);
  if (first === undefined) return quiet('neverDue');
  if (now < first.dueAt) return quiet('withinLimit', first.dueAt);
  return noneSucceeded(first, facts.unsuccessful, now);
}

/**
 * When the switch fires without a success, and what it counts from; undefined: it is off, paused, or nothing is due. An instant that has
 * passed stays: an alert tells of it.
 */
export function deadManDue(
  rule: DeadManRule,
  facts: DeadManFacts,
  now: Instant,
): { readonly at: Instant; readonly basis: 'success' | 'firstSlot' } | undefined {
  const basis = facts.lastSuccessAt === undefined ? 'firstSlot' : 'success';
  const verdict = basis === 'success' ? deadManTriggered(rule, facts, now) : neverSucceeded(rule, facts, now);
  const at = verdict.kind === 'holds' ? verdict.since : verdict.dueAt;
  return at === undefined ? undefined : { at, basis };
}

/** What is known of the past of a dead-man's switch. */
export interface DeadManPast extends Pick<DeadManFacts, 'nthSlotAfter' | 'originAt'> {
  /** Of any kind, in the order of their end. */
  readonly successes: readonly {
    readonly jobName: string;
    readonly endedAt: Instant;
    /** p95 duration of the 20 successes up to and with this one; undefined below 5. */
    readonly p95DurationMs: number | undefined;
  }[];
  /** Ends of runs that failed before the first of these successes; undefined: there may be a success that is not known before it. */
  readonly failuresBeforeFirst: readonly Instant[] | undefined;
  /** In order. */
  readonly suspensions: readonly Suspension[];
}

/** What is counted from: a success, or the origin of a CronJob that had none by then. */
interface Count {
  readonly fromAt: Instant;
  /** Undefined: nothing has succeeded. */
  readonly success: DeadManPast['successes'][number] | undefined;
}

/**
 * Each time that the limit was passed and a later success ended it, or a suspension where that pauses the monitor. What was due at the very
 * instant of the success was in time.
 */
export function deadMenPassed(rule: DeadManRule, past: DeadManPast): PassedLevel[] {
  if (!rule.enabled) return [];
  const { successes, failuresBeforeFirst } = past;
  const passed: PassedLevel[] = [];
  const [first] = successes;
  const isWhole = rule.fromCreation && failuresBeforeFirst !== undefined && (first?.endedAt ?? 0) > past.originAt;
  const counts: Count[] = [
    ...(isWhole ? [{ fromAt: past.originAt, success: undefined }] : []),
    ...successes.map((success) => ({ fromAt: success.endedAt, success })),
  ];
  for (const [index, { fromAt, success }] of counts.entries()) {
    const next = counts[index + 1]?.success;
    let countsFrom = fromAt;
    const isWithin = (span: Suspension): boolean =>
      span.fromAt < (next?.endedAt ?? Infinity) && (span.toAt ?? Infinity) > fromAt;
    const pauses = rule.pauseMonitoring ? past.suspensions.filter(isWithin) : [];
    const stops = pauses.map(({ fromAt: at, toAt }) => ({ at, countsAgainFrom: toAt, by: undefined }));
    for (const { at, countsAgainFrom, by } of next
      ? [...stops, { at: next.endedAt, countsAgainFrom: undefined, by: next }]
      : stops) {
      const level = at > countsFrom ? levelUntil(at, countsFrom, success) : undefined;
      if (level)
        passed.push({ ...level, beganAt: countsFrom, endedAt: at, by, cause: by === undefined ? 'paused' : undefined });
      countsFrom = Math.max(countsFrom, countsAgainFrom ?? Infinity);
    }
  }
  return passed;

  function levelUntil(
    at: Instant,
    countsFrom: Instant,
    success: Count['success'],
  ): Pick<PassedLevel, 'type' | 'subject' | 'verdict'> | undefined {
    if (success) {
      const dueAt = switchDueAt(rule, { ...past, p95DurationMs: success.p95DurationMs }, countsFrom);
      if (dueAt === undefined || dueAt >= at) return undefined;
      const verdict = firmly(noSuccess({ dueAt, countsFrom, lastSuccessAt: success.endedAt }, at));
      return { type: 'deadManTriggered', subject: undefined, verdict };
    }
    const begun = firstDue(rule, past, countsFrom);
    if (begun === undefined || begun.dueAt >= at) return undefined;
    const failed = (failuresBeforeFirst ?? []).filter((failedAt) => failedAt < at).length;
    const verdict = firmly(noneSucceeded(begun, { failed, running: undefined }, at));
    return { type: 'absent', subject: 'neverSucceeded', verdict };
  }
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

/** The first run that was due, and until when one had to succeed. */
interface FirstDue {
  readonly slotAt: Instant;
  readonly dueAt: Instant;
}

function noneSucceeded({ slotAt, dueAt }: FirstDue, runs: DeadManFacts['unsuccessful'], now: Instant): Verdict {
  return holds({
    since: dueAt,
    reason: 'neverSucceeded',
    figures: { measured: (now - slotAt) / 1000, limit: (dueAt - slotAt) / 1000, unit: 'seconds' },
    detail: {
      firstSlotAt: slotAt,
      failedRuns: runs?.failed,
      ...(runs?.stopped && { stoppedRuns: runs.stopped }),
      runningRuns: runs?.running,
    },
  });
}

function firstDue(
  rule: DeadManRule,
  { nthSlotAfter }: Pick<DeadManFacts, 'nthSlotAfter'>,
  countsFrom: Instant,
): FirstDue | undefined {
  // A run that is due at that very instant is the first.
  const isDueAtOnce = nthSlotAfter(countsFrom - 1, 1) === countsFrom;
  const nth = (n: number): Instant | undefined => {
    if (isDueAtOnce) return n === 1 ? countsFrom : nthSlotAfter(countsFrom, n - 1);
    return nthSlotAfter(countsFrom, n);
  };
  const slotAt = nth(1);
  if (slotAt === undefined) return undefined;
  if (rule.maxSinceSuccessMs !== undefined) return { slotAt, dueAt: slotAt + rule.maxSinceSuccessMs };
  const lastAt = rule.auto && nth(rule.auto.missedScheduleThreshold);
  return rule.auto && lastAt !== undefined ? { slotAt, dueAt: lastAt + rule.auto.bufferMs } : undefined;
}

function switchDueAt(
  rule: DeadManRule,
  facts: Pick<DeadManFacts, 'p95DurationMs' | 'nthSlotAfter'>,
  countsFrom: Instant,
): Instant | undefined {
  if (rule.maxSinceSuccessMs !== undefined) return countsFrom + rule.maxSinceSuccessMs;
  if (!rule.auto) return undefined;
  const slotAt = facts.nthSlotAfter(countsFrom, rule.auto.missedScheduleThreshold);
  return slotAt === undefined ? undefined : slotAt + (facts.p95DurationMs ?? 0) + rule.auto.bufferMs;
}
