import type { BrokenTarget, WaitingJob } from '../../domain/index.ts';
import { recordChanges } from '../changes.ts';
import { toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn, updateRows, type RowUpdate } from '../upsert.ts';
import { cronJobChanges } from './cron-job-change.ts';

/** The promises that the figures of a CronJob break, as they were judged now. */
export interface BrokenTargets {
  readonly cronJobId: number;
  readonly broken: readonly BrokenTarget[];
}

/** What a Job of a CronJob waits for in vain; undefined: none does. */
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

/** Decides the state of these CronJobs anew, and tells of those that moved. */
export async function decideStates(tx: Tx, cronJobIds: readonly number[]): Promise<void> {
  await recordChanges(tx, await cronJobChanges(tx, [], cronJobIds));
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
