import { nearestRank } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { statusWords, triggerWords } from '../words.ts';

/** Runs of each CronJob that are looked at. */
const mostRuns = 100;
const cronJobsPerStatement = 200;

/** How long a run of each CronJob usually takes: the median of its newest successful scheduled runs. Absent: no such run. */
export async function listMedianDurations(db: Db, cronJobIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const medians = new Map<number, number>();
  const isCounted =
    `status = ${statusWords.toNumber('success')} and "trigger" = ${triggerWords.toNumber('scheduled')} ` +
    'and duration_ms is not null';
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    // Each piece reads the end of one key range: no CronJob's whole history is touched.
    const pieces = ids.map(
      (_, index) =>
        `select * from (select cronjob_id, duration_ms from executions where cronjob_id = ? and ${isCounted} ` +
        `order by created_at desc limit ${mostRuns}) e${index}`,
    );
    const found = await rows(db, pieces.join(' union all '), ids);
    for (const [id, ofOne] of Map.groupBy(found, (row) => Number(row['cronjob_id']))) {
      const rising = ofOne.map((row) => Number(row['duration_ms'])).sort((a, b) => a - b);
      medians.set(id, nearestRank(rising, 0.5) ?? 0);
    }
  }
  return medians;
}
