import type { Fault, Instant } from '../../domain/index.ts';
import { optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toFault } from '../fault-columns.ts';
import { fullJobName, fullReason } from '../executions/short-text.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { namesOf } from './names.ts';
import { listNewestOfEach } from './newest-of-each.ts';
import { isFailed, isScheduled as isOfSchedule, isSuccess } from './run-conditions.ts';

/** A run that ended in success or failure, as jobFailed judges it. */
export interface JudgedRunRow {
  readonly jobUid: string;
  readonly jobName: string;
  readonly status: 'success' | 'failed';
  readonly endedAt: Instant;
  readonly exitCode: number | undefined;
  readonly reason: string | undefined;
  readonly jobReason: string | undefined;
  readonly failedIndexes: string | undefined;
  readonly fault: Fault | undefined;
  readonly durationMs: number | undefined;
  readonly isScheduled: boolean;
  /** Scheduled, and not left out of the SLA by a maintenance window. */
  readonly isCounted: boolean;
  /** It was recorded when nothing was judged yet. */
  readonly isUnjudged: boolean;
}

/**
 * The last `count` runs of each CronJob that succeeded or failed, newest end first, then by UID. Manual, rerun and unmatched runs only with
 * `includeManual`. A CronJob without any is absent.
 */
export async function listJudgedRuns(
  db: Db,
  cronJobIds: readonly number[],
  wanted: { readonly count: number; readonly includeManual: boolean },
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const { count, includeManual } = wanted;
  const range = {
    select:
      'job_uid, job_name, status, finished_at, exit_code, reason, job_reason, failed_indexes, duration_ms, "trigger", flags, cause, scope',
    orderBy: 'finished_at',
    limit: count,
  };
  const ended = `finished_at is not null${includeManual ? '' : ` and ${isOfSchedule}`}`;
  const found = await listNewestOfEach(db, cronJobIds, [
    { ...range, where: `${isSuccess} and ${ended}` },
    { ...range, where: `${isFailed} and ${ended}` },
  ]);
  const names = await namesOf(db, found);
  const runs = new Map<number, readonly JudgedRunRow[]>();
  for (const [id, ofOne] of Map.groupBy(found, (row) => Number(row['cronjob_id']))) {
    const judged = ofOne.map((row): JudgedRunRow => {
      const isScheduled = triggerWords.toWord(row['trigger']) === 'scheduled';
      return {
        jobUid: db.dialect.id16Text(row['job_uid']),
        jobName: fullJobName(String(row['job_name']), names.get(id) ?? ''),
        status: statusWords.toWord(row['status']) === 'success' ? 'success' : 'failed',
        endedAt: Number(row['finished_at']),
        exitCode: optionalNumber(row['exit_code']),
        reason: fullReason(row['reason']),
        jobReason: fullReason(row['job_reason']),
        failedIndexes: optionalText(row['failed_indexes']),
        fault: toFault(row),
        durationMs: optionalNumber(row['duration_ms']),
        isScheduled,
        isCounted: isScheduled && (Number(row['flags']) & flagBits.inMaintenance) === 0,
        isUnjudged: (Number(row['flags']) & flagBits.unjudged) !== 0,
      };
    });
    judged.sort((a, b) => b.endedAt - a.endedAt || (a.jobUid < b.jobUid ? 1 : -1));
    runs.set(id, judged.slice(0, count));
  }
  return runs;
}
