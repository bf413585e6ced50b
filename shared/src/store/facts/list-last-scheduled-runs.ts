import type { Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { fullJobName } from '../executions/short-text.ts';
import { namesOf } from './names.ts';
import { listNewestOfEach } from './newest-of-each.ts';
import { isCounted, isFailed, isScheduled, isSuccess } from './run-conditions.ts';

interface LastScheduledRun {
  readonly jobUid: string;
  readonly jobName: string;
  readonly endedAt: Instant;
  /** Undefined for an inferred success. */
  readonly durationMs: number | undefined;
}

/** The newest scheduled run that ended in success or failure, and the newest success; by end. */
export interface LastScheduledRuns {
  readonly lastEnded: LastScheduledRun;
  readonly lastSuccess: LastScheduledRun | undefined;
}

/** What the duration limits judge. Runs left out of the SLA by a maintenance window are left out here; a CronJob without a run is absent. */
export async function listLastScheduledRuns(
  db: Db,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, LastScheduledRuns>> {
  const range = { select: 'job_uid, job_name, status, finished_at, duration_ms', orderBy: 'finished_at', limit: 1 };
  const counted = `finished_at is not null and ${isScheduled} and ${isCounted}`;
  const successes = await listNewestOfEach(db, cronJobIds, [{ ...range, where: `${isSuccess} and ${counted}` }]);
  const failures = await listNewestOfEach(db, cronJobIds, [{ ...range, where: `${isFailed} and ${counted}` }]);
  const names = await namesOf(db, [...successes, ...failures]);
  const toRun = (row: Row): LastScheduledRun => ({
    jobUid: db.dialect.id16Text(row['job_uid']),
    jobName: fullJobName(String(row['job_name']), names.get(Number(row['cronjob_id'])) ?? ''),
    endedAt: Number(row['finished_at']),
    durationMs: optionalNumber(row['duration_ms']),
  });

  const runs = new Map<number, LastScheduledRuns>();
  for (const row of successes) {
    const run = toRun(row);
    runs.set(Number(row['cronjob_id']), { lastEnded: run, lastSuccess: run });
  }
  for (const row of failures) {
    const id = Number(row['cronjob_id']);
    const run = toRun(row);
    const lastSuccess = runs.get(id)?.lastSuccess;
    const isNewest = lastSuccess === undefined || run.endedAt > lastSuccess.endedAt;
    runs.set(id, { lastEnded: isNewest ? run : lastSuccess, lastSuccess });
  }
  return runs;
}
