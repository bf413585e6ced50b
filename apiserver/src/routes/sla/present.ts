import type { SlaSubject, SlaTarget, SlaTargetVerdict } from '@cronjob-monitor/shared/contract';
import { failuresLeft, judgeRate } from '../../sla-verdict.ts';
import { orNull, toPercent, toSecondsOrNull } from '../../wire-values.ts';
import type { PairFacts } from './gather.ts';

/** The targets that a monitor has for a CronJob, one for each subject that it sets. */
export function presentTargets(facts: PairFacts): SlaTarget[] {
  const { maxDurationMs, minDurationMs, finishBy } = facts.targets;
  const durationMs = facts.cronJob.lastRun?.durationMs;
  const ofSuccess = facts.cronJob.lastRun?.status === 'success' ? durationMs : undefined;
  return [
    ...presentRate(facts),
    ...(maxDurationMs === undefined ? [] : [presentDuration(facts, 'maxDuration', maxDurationMs, durationMs)]),
    ...(minDurationMs === undefined ? [] : [presentDuration(facts, 'minDuration', minDurationMs, ofSuccess)]),
    ...(finishBy === undefined ? [] : [{ ...presentBase(facts, 'finishBy'), finishBy: finishByText(facts, finishBy) }]),
  ];
}

/** A subject that is told by its alert: all but the rate. */
function presentBase(facts: PairFacts, subject: SlaSubject): SlaTarget {
  const { cronJob, monitor, targets } = facts;
  const alert = facts.alertOf(subject);
  const hasRun = cronJob.lastRun !== undefined;
  return {
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    monitor,
    subject,
    verdict: alert?.state === 'active' ? 'breached' : hasRun ? 'met' : 'noData',
    target: null,
    current: null,
    unit: null,
    finishBy: null,
    windowDays: targets.rate.windowDays,
    success: null,
    runs: null,
    previous: null,
    previousSuccess: null,
    previousRuns: null,
    failuresLeft: null,
    alertId: orNull(alert?.id),
  };
}

function presentRate(facts: PairFacts): SlaTarget[] {
  const { current, previous, targets } = facts;
  const verdict = judgeRate(current, targets.rate);
  if (verdict === 'off') return [];
  const runs = current.success + current.failed;
  const previousRuns = previous.success + previous.failed;
  return [
    {
      ...presentBase(facts, 'successRate'),
      verdict,
      target: orNull(targets.rate.minSuccessRate),
      current: toPercent(current.success, runs),
      unit: 'percent',
      success: current.success,
      runs,
      previous: toPercent(previous.success, previousRuns),
      previousSuccess: previous.success,
      previousRuns,
      failuresLeft: orNull(failuresLeft(current, targets.rate)),
    },
  ];
}

/** What the last ended run took. */
function presentDuration(
  facts: PairFacts,
  subject: 'maxDuration' | 'minDuration',
  targetMs: number,
  currentMs: number | undefined,
): SlaTarget {
  return {
    ...presentBase(facts, subject),
    target: toSecondsOrNull(targetMs),
    current: toSecondsOrNull(currentMs),
    unit: 'seconds',
  };
}

/** `06:00 Europe/Berlin`: without a zone of its own in that of the CronJob. */
function finishByText({ cronJob }: PairFacts, finishBy: NonNullable<PairFacts['targets']['finishBy']>): string {
  const zone = finishBy.timeZone ?? cronJob.timeZone;
  return zone === undefined ? finishBy.time : `${finishBy.time} ${zone}`;
}

export function countVerdicts(targets: readonly SlaTarget[]): Readonly<Record<SlaTargetVerdict, number>> {
  const count = (verdict: SlaTargetVerdict): number => targets.filter((target) => target.verdict === verdict).length;
  return { breached: count('breached'), atRisk: count('atRisk'), noData: count('noData'), met: count('met') };
}
