import type { ExecutionTrigger, Instant } from '../domain/index.ts';
import { insertRows, type Row } from './ask.ts';
import { cronJobChanges } from './catalog/cron-job-change.ts';
import { cronJobIdsOf, lockCronJobs } from './catalog/cron-job-ids.ts';
import { countRunning } from './catalog/run-columns.ts';
import { tellWaits } from './catalog/verdict-facts.ts';
import { recordChanges } from './changes.ts';
import { cleanText, optionalCleanText, optionalNumber, optionalText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { listRecordedJobs } from './executions/recorded-jobs.ts';
import { answerSlots } from './slots/record-slots.ts';
import { rowsIn, updateAll } from './upsert.ts';
import { podPhaseWords, triggerWords } from './words.ts';

/** A Job that has not ended, with the pod that shows best how it fares. */
export interface ActiveJob {
  readonly jobUid: string;
  readonly cronJobUid: string;
  readonly jobName: string;
  readonly trigger: ExecutionTrigger;
  readonly scheduledAt: Instant | undefined;
  readonly createdAt: Instant;
  readonly startedAt: Instant | undefined;
  readonly podName: string | undefined;
  /** Pending, Running, Succeeded, Failed, Unknown. */
  readonly podPhase: string | undefined;
  /** Ready containers of all, such as 1/2. */
  readonly ready: string | undefined;
  /** Decided, pods still ending. */
  readonly finishing: boolean;
  /** What keeps a container of it from starting, such as ImagePullBackOff or FailedCreate; undefined: nothing that is known. */
  readonly waitingReason?: string | undefined;
  readonly waitingMessage?: string | undefined;
  /** Since when it waits for something that a person has to mend; undefined: it does not. */
  readonly hopelessSinceAt?: Instant | undefined;
}

/** A message of Kubernetes is shown up to here, characters. */
const mostWaitingMessage = 500;

const columns = [
  'job_uid',
  'cronjob_id',
  'job_name',
  'trigger',
  'scheduled_at',
  'created_at',
  'started_at',
  'pod_name',
  'pod_phase',
  'ready',
  'finishing',
  'waiting_reason',
  'waiting_message',
  'hopeless_since_at',
] as const;

/**
 * Writes these Jobs as running. Those already recorded as ended are left out, and those whose CronJob has no row yet: their UIDs are
 * returned. Moves `running` of their CronJobs. At most 500.
 */
export async function putActiveJobs(tx: Tx, jobs: readonly ActiveJob[]): Promise<string[]> {
  const ids = await cronJobIdsOf(
    tx,
    jobs.map(({ cronJobUid }) => cronJobUid),
  );
  const ownerIds = [...new Set(ids.values())];
  await lockCronJobs(tx, ownerIds);
  const ended = await listRecordedJobs(
    tx,
    jobs.map(({ jobUid }) => jobUid),
  );
  const running = jobs.filter(({ jobUid, cronJobUid }) => !ended.has(jobUid) && ids.has(cronJobUid));
  await insertRows(tx, {
    table: 'active_jobs',
    columns,
    rows: running.map((job) => toRow(tx, job, ids.get(job.cronJobUid))),
    tail: updateAll(tx.dialect, ['job_uid'], columns.slice(1)),
  });
  // A slot that was judged before its run started, late, has been answered.
  await answerSlots(
    tx,
    running.flatMap(({ cronJobUid, scheduledAt }) => {
      const cronJobId = ids.get(cronJobUid);
      return cronJobId === undefined || scheduledAt === undefined ? [] : [{ cronJobId, at: scheduledAt }];
    }),
  );
  await tellRunning(tx, ownerIds);
  return jobs.filter(({ cronJobUid }) => !ids.has(cronJobUid)).map(({ jobUid }) => jobUid);
}

/** The unfinished Jobs of these CronJobs (all when undefined), oldest first. */
export async function listActiveJobs(
  db: Db,
  cronJobIds?: readonly number[],
): Promise<(ActiveJob & { cronJobId: number })[]> {
  const select = `select ${columns.map((column) => `a."${column}"`).join(', ')}, c.uid_text
                  from active_jobs a join cronjobs c on c.id = a.cronjob_id`;
  const found =
    cronJobIds === undefined
      ? await rowsIn(db, [0], (list) => `${select} where a.cronjob_id > ${list}`)
      : await rowsIn(db, cronJobIds, (list) => `${select} where a.cronjob_id in (${list})`);
  return found
    .map((row) => toActiveJob(db, row))
    .sort((a, b) => a.createdAt - b.createdAt || (a.jobName < b.jobName ? -1 : 1));
}

async function tellRunning(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  await tellWaits(tx, cronJobIds);
  const moved = await countRunning(tx, cronJobIds);
  await recordChanges(tx, await cronJobChanges(tx, moved));
}

function toRow(tx: Tx, job: ActiveJob, cronJobId: number | undefined): unknown[] {
  return [
    tx.dialect.id16(job.jobUid),
    cronJobId,
    cleanText(job.jobName, 253),
    triggerWords.toNumber(job.trigger),
    job.scheduledAt,
    job.createdAt,
    job.startedAt,
    optionalCleanText(job.podName, 253),
    job.podPhase === undefined ? null : podPhaseNumber(job.podPhase),
    optionalCleanText(job.ready, 32),
    Number(job.finishing),
    optionalCleanText(job.waitingReason, 128),
    optionalCleanText(job.waitingMessage, mostWaitingMessage),
    job.hopelessSinceAt,
  ];
}

function podPhaseNumber(phase: string): number {
  return podPhaseWords.toNumber(podPhaseWords.all.find((word) => word === phase) ?? 'Unknown');
}

function toActiveJob(db: Db, row: Row): ActiveJob & { cronJobId: number } {
  return {
    jobUid: db.dialect.id16Text(row['job_uid']),
    cronJobId: Number(row['cronjob_id']),
    cronJobUid: String(row['uid_text']),
    jobName: String(row['job_name']),
    trigger: triggerWords.toWord(row['trigger']),
    scheduledAt: optionalNumber(row['scheduled_at']),
    createdAt: Number(row['created_at']),
    startedAt: optionalNumber(row['started_at']),
    podName: optionalText(row['pod_name']),
    podPhase: row['pod_phase'] === null ? undefined : podPhaseWords.toWord(row['pod_phase']),
    ready: optionalText(row['ready']),
    finishing: Number(row['finishing']) === 1,
    waitingReason: optionalText(row['waiting_reason']),
    waitingMessage: optionalText(row['waiting_message']),
    hopelessSinceAt: optionalNumber(row['hopeless_since_at']),
  };
}
