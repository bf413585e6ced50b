import type { ExecutionStatus, RecentRun } from '@cronjob-monitor/shared/contract';
import type { StripBar } from '../charts/run-strip/bars.ts';
import { runMark, type RunMark } from './runs.ts';

/** Bars of a strip: as high as the run was long, against p95; against the longest but few of those shown where p95 is not known. */
export function stripBars(runs: readonly RecentRun[], p95Seconds: number | null = null): StripBar[] {
  const longest = p95Seconds ?? usualLongest(runs);
  return runs.map((run) => {
    const { bar, tone } = runMark(run);
    return {
      bar,
      tone,
      share: run.durationSeconds === null || longest === 0 ? 0.6 : (0.86 * run.durationSeconds) / longest,
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
