import { failureReason, judge, type DetectionFacts, type Instant, type Judged } from '@cronjob-monitor/shared/domain';
import type { JudgedRunRow } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';

/** How things stood between the end of one run and the end of the next. */
export interface RunStage {
  /** The run that had just ended. */
  readonly run: JudgedRunRow;
  /** It was not judged before. */
  readonly isNews: boolean;
  readonly facts: DetectionFacts;
  readonly judged: readonly Judged[];
  /** When the next run ended. */
  readonly untilAt: Instant;
}

/** What a run of a gap is judged with. */
export interface ReplayedRuns {
  /** The stages before the present one, oldest first: runs that are told of as if the service had looked when they ended. */
  readonly stages: readonly RunStage[];
  /** Whether the newest run is news; undefined: there is nothing but what was recorded now. */
  readonly isNewestNews: boolean | undefined;
}

const nothing: ReplayedRuns = { stages: [], isNewestNews: undefined };

/**
 * Runs that come to be known together are judged one after the other, in the order of their end: an alert that one of them opened and the
 * next one ended is an alert as well, however late the service looked. `runs`: newest first. One that ended before a run that is judged
 * already moves nothing while an alert about that one is open.
 */
export function replayRuns(
  { alerts }: Subject,
  watch: Watch,
  runs: readonly JudgedRunRow[],
  of: { readonly isNews: (run: JudgedRunRow) => boolean; readonly facts: DetectionFacts; readonly now: Instant },
): ReplayedRuns {
  const { jobFailed } = of.facts;
  if (!jobFailed || runs.length === 0) return nothing;
  const ordered = runs.toReversed();
  const news = ordered.map(of.isNews);
  const open = alerts.filter(({ monitorId, type }) => monitorId === watch.monitor.id && type === 'jobFailed');
  const judgedThrough = open.length > 0 ? news.lastIndexOf(false) : -1;
  const first = news.findIndex((isNews, index) => isNews && index > judgedThrough);
  if (first < 0) return nothing;
  const { detection, alerts: rules } = watch.rules;
  // What waits was not told: whether it still held when its delay was over is asked of the time before the run that is news.
  const from = first > 0 && open.some(({ state }) => state !== 'active') ? first - 1 : first;
  let isOpen = open.some(({ state }) => state !== 'pending');
  const stages = ordered.slice(from, -1).map((run, offset): RunStage => {
    const index = from + offset;
    const known = ordered.slice(0, index + 1).toReversed();
    const untilAt = ordered[index + 1]?.endedAt ?? of.now;
    const facts: DetectionFacts = {
      jobFailed: { runs: known.map((ended) => ({ ...ended, reason: failureReason(ended) })), isOpen },
    };
    const judged = judge(detection, facts, untilAt);
    const failed = judged.find(({ type }) => type === 'jobFailed')?.verdict;
    isOpen = failed?.kind === 'holds' && (isOpen || run.endedAt + rules.alertDelayMs <= untilAt);
    return { run, isNews: news[index] ?? false, facts, judged, untilAt };
  });
  return { stages, isNewestNews: news.at(-1) };
}
