import type { Instant } from '../domain/index.ts';
import { change, insertRows, marks, rows } from './ask.ts';
import { cleanText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { updateAll } from './upsert.ts';

/** The next instant at which time alone can change a verdict about a CronJob. */
export interface DueInstant {
  readonly cronJobId: number;
  /** 0: for every monitor, such as the next slot. */
  readonly monitorId: number;
  /** Which verdict, such as `deadManTriggered` or `slots`; at most 32 characters. */
  readonly kind: string;
  /** UID of the Job it is about; empty: about the CronJob. */
  readonly ref: string;
  readonly at: Instant;
}

const key = ['cronjob_id', 'monitor_id', 'kind', 'ref'] as const;

/** Sets these instants, in place of earlier ones of the same CronJob, monitor, kind and Job. */
export async function putDue(tx: Tx, due: readonly DueInstant[]): Promise<void> {
  await insertRows(tx, {
    table: 'due',
    columns: [...key, 'at'],
    rows: due.map(({ cronJobId, monitorId, kind, ref, at }) => [cronJobId, monitorId, kind, cleanText(ref, 64), at]),
    tail: updateAll(tx.dialect, key, ['at']),
  });
}

/** Nothing is due any more for these. Returns how many there were. */
export async function removeDue(tx: Tx, due: readonly Omit<DueInstant, 'at'>[]): Promise<number> {
  let removed = 0;
  for (const { cronJobId, monitorId, kind, ref } of due) {
    // A few per CronJob; they share a connection.
    removed += await change(tx, 'delete from due where cronjob_id = ? and monitor_id = ? and kind = ? and ref = ?', [
      cronJobId,
      monitorId,
      kind,
      cleanText(ref, 64),
    ]);
  }
  return removed;
}

/** Nothing is due any more for this CronJob, or for one monitor of it. */
export async function removeDueOf(tx: Tx, cronJobId: number, monitorId?: number): Promise<number> {
  return monitorId === undefined
    ? change(tx, 'delete from due where cronjob_id = ?', [cronJobId])
    : change(tx, 'delete from due where cronjob_id = ? and monitor_id = ?', [cronJobId, monitorId]);
}

/** What is due at `at`, the most overdue first; of these kinds only, where some are named. */
export async function listDue(
  db: Db,
  at: Instant,
  limit: number,
  kinds: readonly string[] = [],
): Promise<DueInstant[]> {
  const ofKinds = kinds.length === 0 ? '' : ` and kind in (${marks(kinds)})`;
  const found = await rows(
    db,
    `select cronjob_id, monitor_id, kind, ref, at from due where at <= ?${ofKinds} ` +
      `order by at, cronjob_id, monitor_id, kind, ref limit ${Math.floor(limit)}`,
    [at, ...kinds],
  );
  return found.map((row) => ({
    cronJobId: Number(row['cronjob_id']),
    monitorId: Number(row['monitor_id']),
    kind: String(row['kind']),
    ref: String(row['ref']),
    at: Number(row['at']),
  }));
}
