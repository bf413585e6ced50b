import type { Execution, RecentRun } from '@cronjob-monitor/shared/contract';
import { durationText } from './duration.ts';
import { plural } from './figures.ts';
import { causeText, runMark, triggerWords } from './runs.ts';
import { clockText, msOf, weekdayText } from './time.ts';

/** How a run ended: `Failed after 3 min 12 s: exit code 137, OOMKilled`. */
export function outcomeText(run: Execution): string {
  const after = run.durationSeconds === null ? '' : ` ${durationText(run.durationSeconds)}`;
  switch (run.status) {
    case 'success':
      if (run.inferred) return 'Succeeded, known only from the CronJob: its Job was gone before it was seen';
      return after === '' ? 'Succeeded' : `Succeeded in${after}`;
    case 'failed': {
      const cause = causeText(run) ?? run.jobReason;
      return `Failed${after && ` after${after}`}${cause ? `: ${cause}` : ''}`;
    }
    case 'replaced':
      return `Replaced${after && ` after${after}`} by the next run (Replace)`;
    case 'deleted':
      return `Deleted${after && ` after${after}`}, before it ended`;
    default:
      return 'It ran; its outcome could not be seen';
  }
}

/** When it was due and when it began: `Scheduled 02:00:00, started 4 s later`. */
export function beginText(run: Execution, timeZone: string): string {
  const start = run.startTime ?? run.createdAt;
  if (run.scheduledTime === null) {
    const asWhat = run.isRetry && run.retryOf ? `Retry of ${run.retryOf}` : triggerWords[run.trigger];
    return `${asWhat}, started ${clockText(start, timeZone)}`;
  }
  const delaySeconds = Math.max(0, (msOf(start) - msOf(run.scheduledTime)) / 1000);
  const later = run.startTime === null ? ', never started' : `, started ${durationText(delaySeconds)} later`;
  return `Scheduled ${clockText(run.scheduledTime, timeZone)}${later}`;
}

/** How long it took, behind when it began, beside what is usual: `, took 3 min 12 s (p95 2 min)`; empty when that is not known. */
export function tookText({ durationSeconds }: Pick<Execution, 'durationSeconds'>, p95Seconds: number | null): string {
  if (durationSeconds === null) return '';
  return `, took ${durationText(durationSeconds)}${p95Seconds === null ? '' : ` (p95 ${durationText(p95Seconds)})`}`;
}

/** What attempts came to: `all 3 attempts failed`. The pods of an indexed Job share its work: they are counted as pods. */
export function attemptsText(run: Execution): string {
  if (run.failedIndexes !== null) return plural(run.attempts, 'pod');
  const attempts = plural(run.attempts, 'attempt');
  if (run.attempts < 2) return attempts;
  return run.status === 'failed' ? `all ${attempts} failed` : attempts;
}

/** One bar of a strip, said aloud: `Tue 02:00, failed after 3 min, exit code 137`. */
export function barText(run: RecentRun & { readonly exitCode?: number | null }, timeZone: string): string {
  const { word } = runMark(run);
  const how = word.charAt(0).toLowerCase() + word.slice(1);
  const took =
    run.durationSeconds === null
      ? ''
      : ` ${run.status === 'success' ? 'in' : 'after'} ${durationText(run.durationSeconds)}`;
  const code = run.exitCode ? `, exit code ${run.exitCode}` : '';
  return `${weekdayText(run.at, timeZone)}, ${how}${took}${code}`;
}

/** What a strip shows, counted: `90 expected runs: 84 succeeded, 3 failed, 1 late`. */
export function stripText(runs: readonly RecentRun[]): string {
  const counts = new Map<string, number>();
  for (const run of runs) {
    const { word } = runMark(run);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const told = [...counts].sort(([, a], [, b]) => b - a).map(([word, count]) => `${count} ${word.toLowerCase()}`);
  return `${plural(runs.length, 'expected run')}: ${told.join(', ')}`;
}
