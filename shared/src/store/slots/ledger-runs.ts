import type { ExecutionStatus, ExecutionTrigger, Instant } from '../../domain/index.ts';
import { inParts, marks, type Row, rows } from '../ask.ts';
import { judgedThrough } from '../catalog/cron-job-ids.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { isProvisional, mostClockLeadMs } from '../executions/recorded-jobs.ts';
import { fullJobName } from '../executions/short-text.ts';
import { statusWords, triggerWords } from '../words.ts';

/** A run that may have something to do with slots that are not judged yet. */
export interface LedgerRun {
  readonly cronJobId: number;
  /** 16 bytes as UUID text. */
  readonly jobId16: string;
  readonly jobName: string;
  readonly trigger: ExecutionTrigger;
  readonly scheduledAt: Instant | undefined;
  readonly createdAt: Instant;
  /** Undefined: unfinished, or its end was not seen. */
  readonly finishedAt: Instant | undefined;
  /** Undefined: it was going on when it was seen last. */
  readonly status: ExecutionStatus | undefined;
  /** Inferred or unobserved: its end was not seen. */
  readonly provisional: boolean;
  /** When its row was written; undefined: it was going on when it was seen last. */
  readonly recordedAt: Instant | undefined;
}

/** CronJobs of one statement: each is bound four times. */
const cronJobsPerStatement = 500;
const ended = statusWords.all.map((_, number) => number).join(', ');
const unobserved = statusWords.toNumber('unobserved');
const judged = judgedThrough('c');
const recorded =
  'select e.cronjob_id, e.job_uid, e.job_name, c.name as cronjob_name, e.trigger, e.scheduled_at, e.created_at, e.finished_at, ' +
  'e.status, e.flags, e.recorded_at from cronjobs c join executions e on e.cronjob_id = c.id';
const running =
  'select a.cronjob_id, a.job_uid, a.job_name, c.name as cronjob_name, a.trigger, a.scheduled_at, a.created_at, ' +
  'a.started_at as finished_at, -1 as status, 0 as flags, a.created_at as recorded_at from cronjobs c join active_jobs a on a.cronjob_id = c.id';

/**
 * Of each CronJob the runs of slots after its watermark, those that ended or got lost after it, and those going on. One statement for 500
 * CronJobs; each piece reads the end of an index.
 */
export async function listLedgerRuns(
  db: Db,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly LedgerRun[]>> {
  const found = new Map<number, LedgerRun[]>();
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    const these = `c.id in (${marks(ids)})`;
    const earlier = `(e.scheduled_at is null or e.scheduled_at <= ${judged})`;
    const pieces = [
      `${recorded} where ${these} and e.created_at > ${judged} - ${mostClockLeadMs} and e.scheduled_at > ${judged}`,
      `${recorded} where ${these} and e.status in (${ended}) and e.finished_at > ${judged} and ${earlier}`,
      `${recorded} where ${these} and e.status = ${unobserved} and e.finished_at is null and e.recorded_at > ${judged} and ${earlier}`,
      `${running} where ${these}`,
    ];
    const list = await rows(
      db,
      pieces.join(' union all '),
      pieces.flatMap(() => ids),
    );
    for (const row of list) {
      const run = toLedgerRun(db, row);
      const runs = found.get(run.cronJobId);
      if (runs) runs.push(run);
      else found.set(run.cronJobId, [run]);
    }
  }
  return found;
}

function toLedgerRun(db: Db, row: Row): LedgerRun {
  const isRunning = Number(row['status']) === -1;
  return {
    cronJobId: Number(row['cronjob_id']),
    jobId16: db.dialect.id16Text(row['job_uid']),
    jobName: fullJobName(String(row['job_name']), String(row['cronjob_name'])),
    trigger: triggerWords.toWord(row['trigger']),
    scheduledAt: optionalNumber(row['scheduled_at']),
    createdAt: Number(row['created_at']),
    // Columns that a running Job does not have hold another instant, for the sake of a type that all pieces share.
    finishedAt: isRunning ? undefined : optionalNumber(row['finished_at']),
    status: isRunning ? undefined : statusWords.toWord(row['status']),
    recordedAt: isRunning ? undefined : Number(row['recorded_at']),
    provisional: !isRunning && isProvisional(row['status'], row['flags']),
  };
}
