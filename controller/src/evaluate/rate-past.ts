import type { Instant, RatePast } from '@cronjob-monitor/shared/domain';
import { listJudgedRuns, listMissedSlots, type Tx } from '@cronjob-monitor/shared/store';
import type { Subject, Watch } from './subject.ts';
import { countsMissed, gatherRated } from './windowed-facts.ts';

/** A rate that was bad between two looks of a service that watches was asked for: only a longer time may hide one. */
const fewestHiddenMs = 600_000;
/** What ended shortly before the last look may have come to be known later. */
const againMs = 120_000;
/** So many of the newest runs tell whether any failed in the time without a look. */
const newest = 40;

/**
 * The runs that rates of a time without a look are made of, for CronJobs of which a run failed in it, or was missed where a monitor counts
 * that. `ratedThroughAt` undefined: nothing was ever asked.
 */
export async function gatherRatePast(
  tx: Tx,
  subjects: readonly Subject[],
  ratedThroughAt: Instant | undefined,
): Promise<((subject: Subject, watch: Watch) => RatePast | undefined) | undefined> {
  const now = tx.now();
  const hiddenFromAt = (ratedThroughAt ?? -Infinity) - againMs;
  if (now - hiddenFromAt < fewestHiddenMs) return undefined;
  const rated = subjects.filter(({ watches }) => watches.some(isRated));
  const ids = rated.map(({ row }) => row.id);
  const missing = rated.flatMap(({ row, watches }) => (watches.some(countsMissed) ? [row.id] : []));
  const runs = await listJudgedRuns(tx, ids, { count: newest, includeManual: false });
  const missed = await listMissedSlots(tx, missing, 1);
  const failing = rated.filter(({ row: { id } }) => {
    const hasFailed = runs.get(id)?.some(({ status, endedAt }) => status === 'failed' && endedAt >= hiddenFromAt);
    return hasFailed === true || (missed.get(id)?.[0] ?? -Infinity) >= hiddenFromAt;
  });
  if (failing.length === 0) return undefined;
  const pairs = failing.flatMap((subject) => subject.watches.filter(isRated).map((watch) => ({ subject, watch })));
  const ratedOf = await gatherRated(tx, pairs);
  const asked = new Set(failing.map(({ row }) => row.id));
  return (subject, watch) => {
    const rule = watch.rules.detection.successRate;
    if (!asked.has(subject.row.id) || rule === undefined || !isRated(watch)) return undefined;
    const { runs: known, knownFromAt } = ratedOf(subject, watch);
    return {
      runs: known,
      originAt: watch.judgesFromAt,
      completeFromAt: knownFromAt + rule.windowDays * 86_400_000,
      now,
    };
  };
}

function isRated({ rules }: Watch): boolean {
  return rules.detection.successRate?.enabled === true;
}
