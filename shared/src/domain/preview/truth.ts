import type { PreviewTruth } from '../../contract/index.ts';
import { isGroupName } from '../../contract/vocabulary.ts';
import { lacksSuccess } from '../alert-types/traits.ts';
import { counted } from '../delivery/wording.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedCronJob, PreviewedRun } from './history.ts';
import type { PreviewedAlert, PreviewRange } from './preview.ts';

/** What became of an expected run, once it is known. */
interface KnownEnd {
  readonly at: Instant;
  readonly isBad: boolean;
  /** Undefined: no Job was made. */
  readonly jobName: string | undefined;
}

/** An expected run that went wrong while no alert was open. */
interface UntoldRun {
  readonly at: Instant;
  /** Undefined: no Job was made. */
  readonly jobName: string | undefined;
}

/** An alert with its truth; undefined: the outcome does not decide it, or not yet. */
interface TrueOrFalse {
  readonly alert: PreviewedAlert;
  readonly truth: boolean | undefined;
}

/**
 * Which alerts of one CronJob were right, and which runs went wrong without one, by what became of its expected runs. An alert is true when an
 * expected run failed, was missed or passed its finishBy while it was open, or opened it; false when none did and the next expected run
 * succeeded. A run is missed out when it failed or was missed and no alert was open before the next success, or until now. Runs in maintenance
 * that does not count and runs by hand are not expected; every run of a group of Jobs is.
 */
export function truthOf(
  alerts: readonly PreviewedAlert[],
  cronJob: PreviewedCronJob,
  { fromAt, toAt }: Pick<PreviewRange, 'fromAt' | 'toAt'>,
): { readonly alerts: readonly TrueOrFalse[]; readonly missed: readonly UntoldRun[] } {
  const ends = knownEnds(cronJob).filter(({ at }) => at >= fromAt && at <= toAt);
  const deadlines = alerts.filter(({ subject }) => subject === 'finishBy').map(({ sinceAt }) => sinceAt);
  return {
    alerts: alerts.map((alert) => ({ alert, truth: isTrue(alert, ends, deadlines) })),
    missed: ends.filter((end) => end.isBad && !wasTold(end, ends, alerts)).map(({ at, jobName }) => ({ at, jobName })),
  };
}

/** Whether a run belongs to what is expected of its CronJob. */
export function isExpected(run: PreviewedRun, { name }: Pick<PreviewedCronJob, 'name'>): boolean {
  return !run.inMaintenance && (run.trigger === 'scheduled' || isGroupName(name));
}

/** In the order in which they came to be known. */
function knownEnds(cronJob: PreviewedCronJob): readonly KnownEnd[] {
  const ran = cronJob.runs.flatMap((run): KnownEnd[] => {
    const { status, finishedAt: at, jobName } = run;
    const hasEnded = status === 'success' || status === 'failed';
    return hasEnded && at !== undefined && isExpected(run, cronJob)
      ? [{ at, isBad: status === 'failed', jobName }]
      : [];
  });
  const notRun = cronJob.slots.flatMap(({ outcome, decidedAt: at }): KnownEnd[] =>
    outcome === 'missed' ? [{ at, isBad: true, jobName: undefined }] : [],
  );
  return [...ran, ...notRun].sort((a, b) => a.at - b.at);
}

function isTrue(
  { type, subject, sinceAt, activatedAt, endedAt = Infinity }: PreviewedAlert,
  ends: readonly KnownEnd[],
  deadlines: readonly Instant[],
): boolean | undefined {
  const isWhileOpen = (at: Instant): boolean => at >= sinceAt && at <= endedAt;
  if (deadlines.some(isWhileOpen) || ends.some(({ at, isBad }) => isBad && isWhileOpen(at))) return true;
  // The limit of a dead-man's switch passes by itself: what opened it is the run that should have succeeded before.
  if (lacksSuccess({ type, subject }) && ends.findLast(({ at }) => at <= sinceAt)?.isBad) return true;
  const next = ends.find(({ at }) => at > activatedAt);
  return next && !next.isBad ? false : undefined;
}

function wasTold({ at }: KnownEnd, ends: readonly KnownEnd[], alerts: readonly PreviewedAlert[]): boolean {
  const nextSuccessAt = ends.find((end) => end.at > at && !end.isBad)?.at ?? Infinity;
  return alerts.some(({ openedAt, endedAt = Infinity }) => openedAt < nextSuccessAt && endedAt >= at);
}

/**
 * How often rules were right, counted and in words: `These rules raise 3 alerts in 30 days, all true`, and for one lane `3 alerts, all true`,
 * empty without an alert. `missed`: how many runs went wrong without one.
 */
export function tellTruth(
  alerts: readonly Pick<TrueOrFalse, 'truth'>[],
  missed: number,
): { readonly truth: PreviewTruth; readonly wordsOf: (days: number) => string; readonly flagWords: string } {
  const count = (wanted: boolean): number => alerts.filter(({ truth }) => truth === wanted).length;
  const truth = { true: count(true), false: count(false), missed };
  const parts = truthParts(alerts.length, truth);
  const untold = missed === 0 ? '' : ` and miss ${counted(missed, 'run')} that went wrong`;
  const raised = alerts.length === 0 ? 'no alert' : counted(alerts.length, 'alert');
  return {
    truth,
    wordsOf: (days) =>
      `These rules raise ${raised} in ${counted(days, 'day')}${parts === '' ? '' : `, ${parts}`}${untold}`,
    flagWords: alerts.length === 0 ? '' : `${raised}, ${parts}`,
  };
}

function truthParts(total: number, truth: PreviewTruth): string {
  const parts = [
    [truth.true, 'true'],
    [truth.false, 'false'],
    [total - truth.true - truth.false, 'not decided yet'],
  ] as const;
  const [first, ...others] = parts.filter(([count]) => count > 0);
  if (!first) return '';
  if (others.length > 0) return [first, ...others].map(([count, word]) => `${count} ${word}`).join(', ');
  return total === 1 ? first[1] : `all ${first[1]}`;
}
