import type { PreviewHistogram } from '../../contract/index.ts';
import { nearestRank } from '../stats/percentile.ts';
import type { Instant } from '../instant.ts';
import type { PreviewedCronJob } from './history.ts';
import type { PreviewRange } from './preview.ts';
import { isExpected } from './truth.ts';
import { dayMs } from '../duration.ts';

/** More values than a drawing has room for are told by so many of their ranks. */
const mostValues = 200;

type Unit = PreviewHistogram['unit'];
type Collect = (cronJob: PreviewedCronJob, range: Pick<PreviewRange, 'fromAt' | 'toAt'>, windowMs: number) => number[];

/** What each limit of a monitor judges, by the path of the limit in its resource. */
const judged: Readonly<Record<PreviewHistogram['path'], { readonly unit: Unit; readonly collect: Collect }>> = {
  'spec.deadManSwitch.maxTimeSinceLastSuccess': { unit: 'seconds', collect: gapsOfSuccess },
  'spec.sla.maxDuration': { unit: 'seconds', collect: durationsOfSuccess },
  'spec.sla.minSuccessRate': { unit: 'percent', collect: ratesOfDays },
  'spec.missedSchedule.grace': { unit: 'seconds', collect: startDelays },
};

/**
 * The values that the limits of a monitor judge, of these CronJobs over the range: seconds from one success to the next, durations of successful
 * expected runs, the rate at the end of each day over `windowDays`, and how late expected runs began. Of more than 200 values, 200 evenly
 * spaced ranks with the least and the largest stand for all; percentiles are those of all. A limit without a value is absent.
 */
export function judgedValues(
  cronJobs: readonly PreviewedCronJob[],
  range: Pick<PreviewRange, 'fromAt' | 'toAt'>,
  windowDays: number,
): PreviewHistogram[] {
  const paths = Object.keys(judged) as PreviewHistogram['path'][]; // the keys of the table
  return paths.flatMap((path) => {
    const { unit, collect } = judged[path];
    const rising = cronJobs.flatMap((of) => collect(of, range, windowDays * dayMs)).sort((a, b) => a - b);
    const [p50, p95, max] = [nearestRank(rising, 0.5), nearestRank(rising, 0.95), rising.at(-1)];
    if (p50 === undefined || p95 === undefined || max === undefined) return [];
    return [{ path, unit, count: rising.length, p50, p95, max, values: thinned(rising) }];
  });
}

function thinned(rising: readonly number[]): readonly number[] {
  if (rising.length <= mostValues) return rising;
  const step = (rising.length - 1) / (mostValues - 1);
  return Array.from({ length: mostValues }, (_, index) => rising[Math.round(index * step)] ?? 0);
}

function gapsOfSuccess({ runs, lastSuccessBeforeAt }: PreviewedCronJob, { fromAt, toAt }: Within): number[] {
  const ends = runs
    .flatMap(({ status, finishedAt }) => (status === 'success' && finishedAt !== undefined ? [finishedAt] : []))
    .concat(lastSuccessBeforeAt ?? [])
    .sort((a, b) => a - b);
  return ends.flatMap((at, index) => {
    const before = ends[index - 1];
    return before === undefined || at < fromAt || at > toAt ? [] : [toSeconds(at - before)];
  });
}

type Within = Pick<PreviewRange, 'fromAt' | 'toAt'>;

function durationsOfSuccess(cronJob: PreviewedCronJob, { fromAt, toAt }: Within): number[] {
  return cronJob.runs.flatMap((run) => {
    const { status, finishedAt = 0, durationMs } = run;
    const counts = status === 'success' && finishedAt >= fromAt && finishedAt <= toAt && isExpected(run, cronJob);
    return counts && durationMs !== undefined ? [toSeconds(durationMs)] : [];
  });
}

function startDelays(cronJob: PreviewedCronJob, { fromAt, toAt }: Within): number[] {
  return cronJob.runs.flatMap(({ trigger, scheduledAt, createdAt }) =>
    trigger === 'scheduled' && scheduledAt !== undefined && scheduledAt >= fromAt && createdAt <= toAt
      ? [toSeconds(Math.max(0, createdAt - scheduledAt))]
      : [],
  );
}

/** Percent with two decimals; a day whose window has no run has none. */
function ratesOfDays(cronJob: PreviewedCronJob, { fromAt, toAt }: Within, windowMs: number): number[] {
  const runs = cronJob.runs
    .filter((run) => (run.status === 'success' || run.status === 'failed') && isExpected(run, cronJob))
    .sort((a, b) => a.createdAt - b.createdAt);
  const rates: number[] = [];
  for (let at: Instant = toAt; at > fromAt; at -= dayMs) {
    const inWindow = runs.filter(({ createdAt }) => createdAt > at - windowMs && createdAt <= at);
    const good = inWindow.filter(({ status }) => status === 'success').length;
    if (inWindow.length > 0) rates.push(Math.round((good / inWindow.length) * 10_000) / 100);
  }
  return rates;
}

function toSeconds(durationMs: number): number {
  return Math.round(durationMs / 1_000);
}
