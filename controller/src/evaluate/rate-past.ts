import type { Instant, RatePast } from '@cronjob-monitor/shared/domain';
import { listJudgedRuns, type Tx } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';
import { mostRated } from './windowed-facts.ts';

/** A rate that was bad between two looks of a service that watches was asked for: only a longer time may hide one. */
const fewestHiddenMs = 600_000;
/** What ended shortly before the last look may have come to be known later. */
const againMs = 120_000;
/** So many of the newest runs tell whether any failed in the time without a look. */
const newest = 40;

/**
 * The runs that rates of a time without a look are made of, for CronJobs of which a run failed in it. Between which runs a slot that was missed
 * stands is not read: monitors that count those are asked as of now alone. `ratedThroughAt` undefined: nothing was ever asked.
 */
export async function gatherRatePast(
  tx: Tx,
  subjects: readonly Subject[],
  ratedThroughAt: Instant | undefined,
): Promise<((subject: Subject, watch: Watch) => RatePast | undefined) | undefined> {
  const now = tx.now();
  const hiddenFromAt = (ratedThroughAt ?? -Infinity) - againMs;
  if (now - hiddenFromAt < fewestHiddenMs) return undefined;
  const ids = subjects.filter(({ watches }) => watches.some(isRated)).map(({ row }) => row.id);
  const few = await listJudgedRuns(tx, ids, { count: newest, includeManual: false });
  const failing = [...few].flatMap(([id, runs]) =>
    runs.some(({ status, endedAt }) => status === 'failed' && endedAt >= hiddenFromAt) ? [id] : [],
  );
  if (failing.length === 0) return undefined;
  const known = await listJudgedRuns(tx, failing, { count: mostRated, includeManual: false });
  return ({ row }, watch) => {
    const runs = known.get(row.id);
    const rule = watch.rules.detection.successRate;
    if (runs === undefined || rule === undefined || !isRated(watch)) return undefined;
    const isCut = runs.length >= mostRated;
    const oldestAt = runs.at(-1)?.endedAt ?? now;
    return {
      runs: runs.filter(({ isCounted }) => isCounted),
      originAt: watch.judgesFromAt,
      completeFromAt: isCut ? oldestAt + rule.windowDays * 86_400_000 : -Infinity,
      now,
    };
  };
}

function isRated({ rules }: Watch): boolean {
  const rule = rules.detection.successRate;
  return rule?.enabled === true && !rule.countMissed;
}
