import type { Instant } from '../domain/index.ts';
import { change, inParts, insertRows, marks, rows } from './ask.ts';
import { optionalText, cleanText } from './column.ts';
import type { Tx, Db } from './database.ts';
import { rowsIn, updateAll } from './upsert.ts';

/** A verdict's next instant, or that there is none. */
export interface DueWish extends Omit<DueInstant, 'at' | 'ref'> {
  /** Undefined: only an event can change the verdict. */
  readonly at: Instant | undefined;
}

/**
 * Makes the instants of monitors what is wished, writing only what differs: most verdicts are asked anew at the instant they name.
 * `onlyEarlier`: one that is there already and comes first is left; it is moved when it has come.
 */
export async function setDue(tx: Tx, wishes: readonly DueWish[], onlyEarlier = false): Promise<void> {
  if (wishes.length === 0) return;
  const ids = [...new Set(wishes.map(({ cronJobId }) => cronJobId))];
  const found = await rowsIn(
    tx,
    ids,
    (marks) => `select cronjob_id, monitor_id, kind, at from due where cronjob_id in (${marks}) and monitor_id > 0`,
  );
  const before = new Map(
    found.map((row) => [
      keyOf({
        cronJobId: Number(row['cronjob_id']),
        monitorId: Number(row['monitor_id']),
        kind: optionalText(row['kind']) ?? '',
      }),
      Number(row['at']),
    ]),
  );
  const moved: DueInstant[] = [];
  const gone: DueWish[] = [];
  for (const wish of wishes) {
    const at = before.get(keyOf(wish));
    if (wish.at === undefined) {
      if (at !== undefined && !onlyEarlier) gone.push(wish);
    } else if (at === undefined || (onlyEarlier ? wish.at < at : wish.at !== at)) {
      moved.push({ ...wish, at: wish.at, ref: '' });
    }
  }
  await putDue(tx, moved);
  for (const part of inParts(gone, 100)) {
    const where = part.map(() => '(cronjob_id = ? and monitor_id = ? and kind = ?)').join(' or ');
    await change(
      tx,
      `delete from due where ${where}`,
      part.flatMap(({ cronJobId, monitorId, kind }) => [cronJobId, monitorId, kind]),
    );
  }
}

function keyOf({ cronJobId, monitorId, kind }: Omit<DueInstant, 'at' | 'ref'>): string {
  return `${cronJobId} ${monitorId} ${kind}`;
}

/** The next instant at which time alone can change a verdict about a CronJob. */
interface DueInstant {
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
    removed += await change(tx, 'delete from due where cronjob_id = ? and monitor_id = ? and kind = ? and ref = ?', [
      cronJobId,
      monitorId,
      kind,
      cleanText(ref, 64),
    ]);
  }
  return removed;
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
