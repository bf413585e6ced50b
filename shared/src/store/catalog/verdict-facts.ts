import type { BrokenTarget, WaitingJob } from '../../domain/index.ts';
import { recordChanges } from '../changes.ts';
import { optionalText, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn, type RowUpdate, updateRows } from '../upsert.ts';
import { cronJobChanges } from './cron-job-change.ts';

/** The promises that the figures of a CronJob break, as they were judged now. */
export interface BrokenTargets {
  readonly cronJobId: number;
  readonly broken: readonly BrokenTarget[];
}

/** Why a Job of the CronJob cannot start; undefined: no Job is in that state. */
interface WaitingOf {
  readonly cronJobId: number;
  readonly waiting: WaitingJob | undefined;
}

/** Keeps what the figures break, and decides states anew. The rows are locked by the caller. */
export async function setBrokenTargets(tx: Tx, judged: readonly BrokenTargets[]): Promise<void> {
  const before = await read(tx, 'broken', judged);
  await write(
    tx,
    'broken',
    before,
    judged.map(({ cronJobId, broken }): RowUpdate => [cronJobId, broken.length === 0 ? null : toJson(broken)]),
  );
}

/** Keeps what Jobs wait for, and decides states anew. The rows are locked by the caller. */
export async function setWaiting(tx: Tx, found: readonly WaitingOf[]): Promise<void> {
  const before = await read(tx, 'waiting', found);
  await write(
    tx,
    'waiting',
    before,
    found.map(({ cronJobId, waiting }): RowUpdate => [cronJobId, waiting === undefined ? null : toJson(waiting)]),
  );
}

type Column = 'broken' | 'waiting';

async function read(
  tx: Tx,
  column: Column,
  of: readonly { readonly cronJobId: number }[],
): Promise<ReadonlyMap<number, unknown>> {
  const ids = of.map(({ cronJobId }) => cronJobId);
  const found = await rowsIn(tx, ids, (marks) => `select id, ${column} from cronjobs where id in (${marks})`);
  return new Map(found.map((row) => [Number(row['id']), row[column]]));
}

async function write(
  tx: Tx,
  column: Column,
  before: ReadonlyMap<number, unknown>,
  after: readonly RowUpdate[],
): Promise<void> {
  const moved = after.filter(([id, value]) => before.has(Number(id)) && before.get(Number(id)) !== value);
  await updateRows(tx, { table: 'cronjobs', key: 'id', columns: { [column]: 'longText' }, rows: moved });
  const ids = moved.map(([id]) => Number(id));
  await recordChanges(tx, await cronJobChanges(tx, ids));
}

/**
 * Keeps at each CronJob the Job that has waited in vain for longest, if one does, after its active Jobs have changed. Their rows are locked by
 * the caller. Mostly none waits, and none did: then it is one question.
 */
export async function tellWaits(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  const concerned = await rowsIn(
    tx,
    cronJobIds,
    (list) => `select c.id from cronjobs c where c.id in (${list}) and (c.waiting is not null or exists (
                 select 1 from active_jobs a where a.cronjob_id = c.id and a.hopeless_since_at is not null))`,
  );
  const ids = concerned.map((row) => Number(row['id']));
  if (ids.length === 0) return;
  const waits = await rowsIn(
    tx,
    ids,
    (list) => `select cronjob_id, job_name, waiting_reason, waiting_message, hopeless_since_at from active_jobs
               where hopeless_since_at is not null and cronjob_id in (${list}) order by hopeless_since_at, job_name`,
  );
  await setWaiting(
    tx,
    ids.map((cronJobId) => {
      const row = waits.find((wait) => Number(wait['cronjob_id']) === cronJobId);
      const waiting = row && {
        jobName: String(row['job_name']),
        sinceAt: Number(row['hopeless_since_at']),
        reason: optionalText(row['waiting_reason']) ?? 'not known',
        message: optionalText(row['waiting_message']),
      };
      return { cronJobId, waiting };
    }),
  );
}
