import type { ExecutionStatus, RecentRun } from '@cronjob-monitor/shared/contract';
import type { StripBar } from '../charts/run-strip/bars.ts';
import { runMark, type RunMark } from './runs.ts';

/** How high a bar of that length is: what is longer stands above it. */
const fullShare = 0.86;
/** A limit so many times the usual length would leave bars without a height: it has no line. */
const farLimit = 4;

/** How high the line of a limit stands beside the bars; undefined: there is none, or none of them comes near it. */
export function limitShare(
  runs: readonly RecentRun[],
  p95Seconds: number | null,
  limitSeconds: number | null,
): number | undefined {
  const longest = wholeOf(runs, p95Seconds, limitSeconds);
  return limitSeconds === null || limitSeconds > longest ? undefined : (fullShare * limitSeconds) / longest;
}

/** What a bar of full height lasts. */
function wholeOf(runs: readonly RecentRun[], p95Seconds: number | null, limitSeconds: number | null): number {
  const usual = p95Seconds ?? usualLongest(runs);
  return limitSeconds !== null && limitSeconds <= farLimit * usual ? Math.max(usual, limitSeconds) : usual;
}

/** Bars of a strip: as high as the run was long, against p95; against the longest but few of those shown where p95 is not known. */
export function stripBars(
  runs: readonly RecentRun[],
  p95Seconds: number | null = null,
  limitSeconds: number | null = null,
): StripBar[] {
  const longest = wholeOf(runs, p95Seconds, limitSeconds);
  return runs.map((run) => {
    const { bar, tone } = runMark(run);
    return {
      bar,
      tone,
      share: run.durationSeconds === null || longest === 0 ? 0.6 : (fullShare * run.durationSeconds) / longest,
    };
  });
}

/** What a legend lists: only what is drawn, each once, in the order of first sight. */
export function marksIn(runs: readonly RecentRun[]): RunMark[] {
  return [...new Map(runs.map((run) => [runMark(run).word, runMark(run)])).values()];
}

function usualLongest(runs: readonly { status: ExecutionStatus | null; durationSeconds: number | null }[]): number {
  const durations = runs
    .flatMap(({ durationSeconds }) => (durationSeconds === null ? [] : [durationSeconds]))
    .sort((a, b) => a - b);
  return durations[Math.ceil(durations.length * 0.95) - 1] ?? 0;
}
