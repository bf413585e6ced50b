import type { Instant } from '../instant.ts';
import { holds, quiet, type Verdict } from './verdict.ts';
import { firmly, successesPassed, type PassedLevel } from './passed-level.ts';

export interface DurationLimitsRule {
  readonly enabled: boolean;
  readonly maxDurationMs: number | undefined;
  readonly minDurationMs: number | undefined;
}

/** A scheduled run that ended. */
export interface EndedRun {
  /** UID of its Job, where that is known. */
  readonly jobUid?: string;
  readonly jobName: string;
  readonly endedAt: Instant;
  readonly durationMs: number | undefined;
}

export interface DurationFacts {
  /** The newest scheduled run that ended, in success or failure. */
  readonly lastEnded: EndedRun | undefined;
  readonly lastSuccess: EndedRun | undefined;
  /** Scheduled Jobs that run now; suspended ones left out. */
  readonly running: readonly { readonly jobName: string; readonly startedAt: Instant }[];
  /** The last ended runs, in the order of their end, as far as they were read. */
  readonly ended?: readonly (EndedRun & { readonly status: string })[] | undefined;
}

/** So long a run that has ended may wait for its record; what waits longer has none to come. */
const recordedWithinMs = 600_000;

/**
 * Whether one of these Jobs has ended and is not recorded yet: it neither runs nor is it the newest that ended, so that nothing can be said of
 * how long runs take until it is. `over`: those that have ended, with the instant.
 */
export function awaitsRecord(
  over: readonly { readonly jobName: string; readonly endedAt: Instant }[],
  lastEnded: EndedRun | undefined,
  now: Instant,
): boolean {
  const from = Math.max(lastEnded?.endedAt ?? -Infinity, now - recordedWithinMs);
  return over.some(({ jobName, endedAt }) => endedAt > from && jobName !== lastEnded?.jobName);
}

/** Holds while the newest ended run took longer than allowed, since the first in a row, and from the moment a running one does. */
export function tookTooLong(rule: DurationLimitsRule, facts: DurationFacts, now: Instant): Verdict {
  const limit = rule.maxDurationMs;
  if (!rule.enabled || limit === undefined) return quiet('notConfigured');

  const over = facts.running.filter((run) => now >= run.startedAt + limit).sort((a, b) => a.startedAt - b.startedAt);
  const [oldest] = over;
  if (oldest) {
    return holds({
      since: oldest.startedAt + limit,
      reason: 'runningTooLong',
      count: over.length,
      figures: { measured: (now - oldest.startedAt) / 1000, limit: limit / 1000, unit: 'seconds' },
      detail: { jobName: oldest.jobName, running: over.map((run) => run.jobName).slice(0, 20) },
    });
  }
  const next = Math.min(...facts.running.map((run) => run.startedAt + limit));
  const dueAt = next === Infinity ? undefined : next;
  const { lastEnded } = facts;
  if (lastEnded?.durationMs === undefined || lastEnded.durationMs <= limit)
    return quiet(lastEnded ? 'withinLimit' : 'noRun', dueAt);
  const first = firstOfRow(facts.ended, ({ durationMs = 0 }) => durationMs > limit) ?? lastEnded;
  return holds({
    since: first.endedAt - (first.durationMs ?? limit) + limit,
    reason: 'tookTooLong',
    figures: { measured: lastEnded.durationMs / 1000, limit: limit / 1000, unit: 'seconds' },
    detail: { jobName: lastEnded.jobName },
  });
}

/** Holds while the newest success was over suspiciously fast, since the first in a row. */
export function endedTooSoon(rule: DurationLimitsRule, facts: DurationFacts): Verdict {
  const limit = rule.minDurationMs;
  if (!rule.enabled || limit === undefined) return quiet('notConfigured');
  const { lastSuccess } = facts;
  if (lastSuccess?.durationMs === undefined || lastSuccess.durationMs >= limit)
    return quiet(lastSuccess ? 'withinLimit' : 'noRun');
  const successes = facts.ended?.filter(({ status }) => status === 'success');
  return holds({
    since: (firstOfRow(successes, ({ durationMs = limit }) => durationMs < limit) ?? lastSuccess).endedAt,
    reason: 'endedTooSoon',
    figures: { measured: lastSuccess.durationMs / 1000, limit: limit / 1000, unit: 'seconds' },
    detail: { jobName: lastSuccess.jobName },
  });
}

/** The first of the row of runs, up to the newest, that are so. */
function firstOfRow(runs: readonly EndedRun[] = [], isSo: (run: EndedRun) => boolean): EndedRun | undefined {
  return runs[runs.findLastIndex((run) => !isSo(run)) + 1];
}

/**
 * Each time that a run took longer than allowed and a later run was back within the limit. It begins while the run goes on, and ends when a run
 * within the limit ends and none goes on beyond it. `ended`: in the order of their end. `isCut`: there are older ones, so that what was so with the
 * first of these began earlier.
 */
export function overrunsPassed(
  rule: DurationLimitsRule,
  ended: readonly EndedRun[],
  running: DurationFacts['running'],
  isCut = false,
): PassedLevel[] {
  const limit = rule.maxDurationMs;
  if (!rule.enabled || limit === undefined) return [];
  const going = running.map(({ startedAt }) => ({ passedAt: startedAt + limit, endedAt: Infinity }));
  const over = [...ended.flatMap((run) => overrunOf(run, limit) ?? []), ...going];
  const passed: PassedLevel[] = [];
  let since: Instant | undefined;
  for (const [index, run] of ended.entries()) {
    const afterAt = ended[index - 1]?.endedAt ?? -Infinity;
    const began = over.filter(({ passedAt }) => passedAt > afterAt && passedAt <= run.endedAt);
    if (began.length > 0) since ??= Math.min(...began.map(({ passedAt }) => passedAt));
    const goesOn = over.some(({ passedAt, endedAt }) => passedAt <= run.endedAt && endedAt > run.endedAt);
    if (since === undefined || goesOn || (run.durationMs ?? 0) > limit) continue;
    const slow = ended.findLast((one, at) => at < index && overrunOf(one, limit) !== undefined);
    const isWhole = !isCut || ended[0] === undefined || since > ended[0].endedAt;
    if (slow && isWhole) {
      const held = tookTooLong(rule, { lastEnded: slow, lastSuccess: undefined, running: [] }, run.endedAt);
      const verdict = { ...firmly(held), since };
      const span = { beganAt: since - 1, endedAt: run.endedAt, by: run };
      passed.push({ type: 'slaBreached', subject: 'maxDuration', verdict, ...span });
    }
    since = undefined;
  }
  return passed;
}

/** Each time that a success was over suspiciously fast and a later one was not. `successes`: in the order of their end. */
export function hastePassed(rule: DurationLimitsRule, successes: readonly EndedRun[], isCut = false): PassedLevel[] {
  const verdictOf = (run: EndedRun): Verdict =>
    endedTooSoon(rule, { lastEnded: undefined, lastSuccess: run, running: [] });
  return successesPassed('minDuration', successes, verdictOf, isCut);
}

function overrunOf(
  { endedAt, durationMs }: EndedRun,
  limit: number,
): { readonly passedAt: Instant; readonly endedAt: Instant } | undefined {
  return durationMs === undefined || durationMs <= limit
    ? undefined
    : { passedAt: endedAt - durationMs + limit, endedAt };
}
