import type { AlertRun, EndedRun, Fault, Instant, OutputRun } from '../../domain/index.ts';
import { optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toFault } from '../fault-columns.ts';
import { fullJobName, fullReason } from '../executions/short-text.ts';
import {
  flagBits,
  isCounted,
  isFailed,
  isScheduled as isOfSchedule,
  isSuccess,
  statusWords,
  triggerWords,
  unmetOutcomes,
} from '../words.ts';
import { listNewestOfEach } from '../bounded-reads.ts';
import { rowsByUid, rowsIn } from '../upsert.ts';
import { inParts, type Row, rows } from '../ask.ts';
import { listRunFacts } from '../executions/run-facts.ts';
import { mostClockLeadMs } from '../executions/recorded-jobs.ts';

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
  /** The run was recorded before any verdict. */
  readonly isUnjudged: boolean;
}

/**
 * The last `count` runs of each CronJob that succeeded or failed, newest end first; of those that ended in one second, as lists of runs show
 * them. Manual, rerun and unmatched runs only with `includeManual`. A CronJob without any is absent.
 */
export async function listJudgedRuns(
  db: Db,
  cronJobIds: readonly number[],
  wanted: { readonly count: number; readonly includeManual: boolean },
): Promise<ReadonlyMap<number, readonly JudgedRunRow[]>> {
  const { count, includeManual } = wanted;
  const range = {
    select:
      'job_uid, job_name, status, created_at, finished_at, exit_code, reason, job_reason, failed_indexes, duration_ms, "trigger", flags, cause, scope',
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
    const judged = ofOne.sort(newestEndFirst(db)).map((row): JudgedRunRow => {
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
    runs.set(id, judged.slice(0, count));
  }
  return runs;
}

/** Kubernetes tells ends in whole seconds: of two in one second the Job that was made later is newer, then the one with the lesser UID. */
function newestEndFirst(db: Db): (a: Row, b: Row) => number {
  const uidOf = (row: Row): string => db.dialect.id16Text(row['job_uid']);
  return (a, b) =>
    Number(b['finished_at']) - Number(a['finished_at']) ||
    Number(b['created_at']) - Number(a['created_at']) ||
    (uidOf(a) < uidOf(b) ? -1 : 1);
}

/** Recorded runs as alerts speak of them, by Job UID; those without a row are absent. */
export async function listAlertRuns(db: Db, jobUids: readonly string[]): Promise<ReadonlyMap<string, AlertRun>> {
  const found = await rowsByUid(
    db,
    jobUids,
    'job_uid',
    (marks) =>
      'select e.job_uid, e.job_name, e."trigger", e.scheduled_at, e.started_at, e.finished_at, e.duration_ms, e.exit_code, ' +
      'e.reason, e.job_reason, e.attempts, e.flags, e.fix, c.name as cronjob_name from executions e ' +
      `join cronjobs c on c.id = e.cronjob_id where e.job_uid in (${marks})`,
  );
  return new Map(
    [...found].map(([jobUid, row]) => {
      const flags = Number(row['flags']);
      return [
        jobUid,
        {
          jobUid,
          jobName: fullJobName(String(row['job_name']), String(row['cronjob_name'])),
          trigger: triggerWords.toWord(row['trigger']),
          scheduledAt: optionalNumber(row['scheduled_at']),
          startedAt: optionalNumber(row['started_at']),
          finishedAt: optionalNumber(row['finished_at']),
          durationMs: optionalNumber(row['duration_ms']),
          exitCode: optionalNumber(row['exit_code']),
          reason: fullReason(row['reason'] ?? row['job_reason']),
          attempts: optionalNumber(row['attempts']),
          fix: optionalText(row['fix']),
          hasLogs: (flags & flagBits.hasLogs) !== 0,
          hasEvents: (flags & flagBits.hasEvents) !== 0,
        },
      ];
    }),
  );
}

/** The newest scheduled run that ended in success or failure, and the newest success; by end. */
export interface LastScheduledRuns {
  readonly lastEnded: EndedRun;
  readonly lastSuccess: EndedRun | undefined;
}

/** What the duration limits judge. Runs left out of the SLA by a maintenance window are left out here; a CronJob without a run is absent. */
export async function listLastScheduledRuns(
  db: Db,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, LastScheduledRuns>> {
  const range = { select: 'job_uid, job_name, status, finished_at, duration_ms', orderBy: 'finished_at', limit: 1 };
  const counted = `finished_at is not null and ${isOfSchedule} and ${isCounted}`;
  const successes = await listNewestOfEach(db, cronJobIds, [{ ...range, where: `${isSuccess} and ${counted}` }]);
  const failures = await listNewestOfEach(db, cronJobIds, [{ ...range, where: `${isFailed} and ${counted}` }]);
  const names = await namesOf(db, [...successes, ...failures]);
  const toRun = (row: Row): EndedRun => ({
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

/** The last `count` successes of each CronJob whose facts are known, in the order of their end; one without any is absent. */
export async function listOutputRuns(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
): Promise<ReadonlyMap<number, readonly (OutputRun & Pick<JudgedRunRow, 'isUnjudged'>)[]>> {
  const found = await listNewestOfEach(db, cronJobIds, [
    {
      select: 'job_uid, job_name, created_at, finished_at, duration_ms, "trigger", flags',
      where: `${isSuccess} and finished_at is not null and (flags & ${flagBits.factsUnknown | flagBits.inferred}) = 0`,
      orderBy: 'finished_at',
      limit: count,
    },
  ]);
  const names = await namesOf(db, found);
  const facts = await listRunFacts(db, found);
  const runs = new Map<number, (OutputRun & Pick<JudgedRunRow, 'isUnjudged'>)[]>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const jobUid = db.dialect.id16Text(row['job_uid']);
    const run = {
      jobUid,
      jobName: fullJobName(String(row['job_name']), names.get(id) ?? ''),
      endedAt: Number(row['finished_at']),
      durationMs: optionalNumber(row['duration_ms']),
      isScheduled: triggerWords.toWord(row['trigger']) === 'scheduled',
      values: facts.get(jobUid) ?? new Map<string, number>(),
      isUnjudged: (Number(row['flags']) & flagBits.unjudged) !== 0,
    };
    const ofOne = runs.get(id);
    if (ofOne) ofOne.push(run);
    else runs.set(id, [run]);
  }
  for (const ofOne of runs.values()) ofOne.sort((a, b) => a.endedAt - b.endedAt || (a.jobName < b.jobName ? -1 : 1));
  return runs;
}

/** Runs of one CronJob that were due in (afterAt, untilAt]. */
export interface SlotInterval {
  readonly cronJobId: number;
  readonly afterAt: Instant;
  readonly untilAt: Instant;
}

const isSeen = `status <> ${statusWords.toNumber('unobserved')}`;

/**
 * Of the runs that were due in each interval, in the order of the intervals: when the first success ended, undefined without any, and of
 * how many slots it is known what became of them.
 */
export async function listDueRuns(
  db: Db,
  intervals: readonly SlotInterval[],
): Promise<readonly { readonly firstSuccessAt: Instant | undefined; readonly known: number }[]> {
  const ends: { firstSuccessAt: Instant | undefined; known: number }[] = [];
  for (const part of inParts(intervals, 125)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as position_no, min(case when ${isSuccess} then finished_at end) as first_end, ` +
        `count(distinct case when ${isSeen} then scheduled_at end) + (select count(*) from slots where cronjob_id = ? ` +
        `and slot_at > ? and slot_at <= ? and outcome in (${unmetOutcomes.join(', ')})) as known from executions ` +
        `where cronjob_id = ? and created_at > ? and scheduled_at > ? and scheduled_at <= ?`,
    );
    const found = await rows(
      db,
      pieces.join(' union all '),
      part.flatMap(({ cronJobId: id, afterAt: after, untilAt: until }) => {
        return [id, after, until, id, after - mostClockLeadMs, after, until];
      }),
    );
    const byPosition = new Map(found.map((row) => [Number(row['position_no']), row]));
    const answers = part.map((_, index) => byPosition.get(index) ?? {});
    ends.push(
      ...answers.map((row) => ({ firstSuccessAt: optionalNumber(row['first_end']), known: Number(row['known']) })),
    );
  }
  return ends;
}

/** Names of the CronJobs that these rows belong to: rows keep only what follows them in the names of Jobs. */
async function namesOf(db: Db, found: readonly Row[]): Promise<ReadonlyMap<number, string>> {
  const ids = [...new Set(found.map((row) => Number(row['cronjob_id'])))];
  const named = await rowsIn(db, ids, (marks) => `select id, name from cronjobs where id in (${marks})`);
  return new Map(named.map((row) => [Number(row['id']), String(row['name'])]));
}
