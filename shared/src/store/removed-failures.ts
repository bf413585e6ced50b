import type { Instant } from '../domain/index.ts';
import { change, firstRow } from './ask.ts';
import type { LastRun } from './catalog/run-columns.ts';
import { fromJson, optionalNumber, toJson } from './column.ts';
import type { Tx } from './database.ts';
import { statusWords, triggerWords } from './words.ts';

/** No threshold asks for more. */
const mostKept = 100;

/**
 * A removal is no success: scheduled runs of this batch that failed since the last success keep their ends on the row of their CronJob, so that
 * its failures in a row are counted on. Inside the transaction that removes them, which holds the lock of the row.
 */
export async function keepFailedEnds(
  tx: Tx,
  cronJobId: number,
  batch: readonly Readonly<Record<string, unknown>>[],
): Promise<void> {
  const failed = batch.filter(
    (row) =>
      row['finished_at'] !== null &&
      statusWords.toWord(row['status']) === 'failed' &&
      triggerWords.toWord(row['trigger']) === 'scheduled',
  );
  if (failed.length === 0) return;
  const row = await firstRow(tx, 'select failed_run, last_success_at from cronjobs where id = ?', [cronJobId]);
  // Written by moveOwners from the same type.
  const failedRun = fromJson(row?.['failed_run']) as LastRun | undefined;
  if (failedRun === undefined) return;
  const succeededAt = optionalNumber(row?.['last_success_at']) ?? -Infinity;
  const ends = failed.map((run): Instant => Number(run['finished_at'])).filter((at) => at > succeededAt);
  if (ends.length === 0) return;
  const removedEnds = [...(failedRun.removedEnds ?? []), ...ends].toSorted((a, b) => b - a).slice(0, mostKept);
  await change(tx, 'update cronjobs set failed_run = ? where id = ?', [
    toJson({ ...failedRun, removedEnds }),
    cronJobId,
  ]);
}
