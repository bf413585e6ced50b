import type { ExecutionStatus, SlotOutcome } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import { numberOfPart } from '../column.ts';
import type { Db } from '../database.ts';
import { isFailed, isScheduled, outcomeWords, statusWords } from '../words.ts';
import { fullJobName } from './short-text.ts';

/** A run, or an expected run that came to nothing. */
export interface RecentEntry {
  readonly at: Instant;
  /** Undefined for a run that no expected run asked for. */
  readonly outcome: SlotOutcome | undefined;
  /** Undefined without a Job. */
  readonly status: ExecutionStatus | undefined;
  readonly durationMs: number | undefined;
  /** Undefined without a Job. */
  readonly jobName: string | undefined;
}

/** CronJobs of one statement: each is two pieces of it. */
const cronJobsPerStatement = 100;

/**
 * The newest `count` entries of each CronJob, oldest first. A run counts as late when its Job was created more than
 * `lateAfterMs` after the instant it was due.
 */
export async function listRecentRuns(
  db: Db,
  cronJobIds: readonly number[],
  options: { readonly count: number; readonly lateAfterMs: number },
): Promise<ReadonlyMap<number, readonly RecentEntry[]>> {
  const { count, lateAfterMs } = options;
  const entries = new Map<number, RecentEntry[]>();
  if (count === 0) return entries;
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    // Each piece reads the end of one key range: no CronJob's whole history is touched. What a piece does not have is -1,
    // since a bare null has no type that the other pieces could share.
    const pieces = ids.flatMap((_, index) => [
      `select * from (select cronjob_id, coalesce(scheduled_at, created_at) as at_ms, scheduled_at, created_at, status, duration_ms, job_name, ` +
        `-1 as outcome from executions where cronjob_id = ? order by created_at desc, job_uid limit ?) e${index}`,
      `select * from (select cronjob_id, slot_at as at_ms, -1 as scheduled_at, -1 as created_at, -1 as status, -1 as duration_ms, '' as job_name, ` +
        `outcome from slots where cronjob_id = ? order by slot_at desc limit ?) s${index}`,
    ]);
    const bindings = ids.flatMap((id) => [id, count, id, count]);
    const named = await rows(db, `select id, name from cronjobs where id in (${ids.map(() => '?').join(', ')})`, [
      ...ids,
    ]);
    const names = new Map(named.map((row) => [Number(row['id']), String(row['name'])]));
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const id = Number(row['cronjob_id']);
      const scheduledAt = numberOfPart(row['scheduled_at']);
      const createdAt = numberOfPart(row['created_at']);
      const [outcome, status] = [numberOfPart(row['outcome']), numberOfPart(row['status'])];
      const list = entries.get(id) ?? [];
      entries.set(id, list);
      list.push({
        at: Number(row['at_ms']),
        outcome: outcome === undefined ? toOutcome(scheduledAt, createdAt, lateAfterMs) : outcomeWords.toWord(outcome),
        status: status === undefined ? undefined : statusWords.toWord(status),
        durationMs: numberOfPart(row['duration_ms']),
        jobName: status === undefined ? undefined : fullJobName(String(row['job_name']), names.get(id) ?? ''),
      });
    }
  }
  for (const [id, list] of entries)
    entries.set(
      id,
      list
        .reverse()
        .sort((a, b) => a.at - b.at)
        .slice(-count),
    );
  return entries;
}

/** Outcome of the slot that a run fills; undefined: the run fills no slot. */
export function toOutcome(
  scheduledAt: Instant | undefined,
  createdAt: Instant | undefined,
  lateAfterMs: number,
): 'matched' | 'late' | undefined {
  if (scheduledAt === undefined || createdAt === undefined) return undefined;
  return createdAt - scheduledAt > lateAfterMs ? 'late' : 'matched';
}

/** A CronJob, and when a run of it failed last: the search begins there. */
interface FailedOnce {
  readonly id: number;
  readonly name: string;
  readonly lastFailureAt: Instant | undefined;
}

/**
 * The scheduled run of each CronJob that failed last, whether or not one has succeeded since: name of its Job by id of the CronJob. One statement for a
 * hundred of them, and each reads the end of one key range.
 */
export async function listLastFailures(db: Db, cronJobs: readonly FailedOnce[]): Promise<ReadonlyMap<number, string>> {
  const failures = new Map<number, string>();
  const wanted = cronJobs.filter(({ lastFailureAt }) => lastFailureAt !== undefined);
  const names = new Map(wanted.map(({ id, name }) => [id, name]));
  for (const part of inParts(wanted, cronJobsPerStatement)) {
    const pieces = part.map(
      (_, index) =>
        `select * from (select cronjob_id, job_name from executions where cronjob_id = ? and created_at <= ? and ${isFailed} and ${isScheduled} ` +
        `order by created_at desc, job_uid limit 1) f${index}`,
    );
    const bindings = part.flatMap(({ id, lastFailureAt }) => [id, lastFailureAt]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const id = Number(row['cronjob_id']);
      failures.set(id, fullJobName(String(row['job_name']), names.get(id) ?? ''));
    }
  }
  return failures;
}
