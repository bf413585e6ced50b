import type { ChangeKind, StreamData } from '../contract/index.ts';
import type { Instant } from '../domain/index.ts';
import { change, insertRows, rows, firstRow } from './ask.ts';
import { fromJson, optionalText, toJson } from './column.ts';
import type { Db, Move, Tx } from './database.ts';

/** One thing that changed, as the API's event stream tells it (api.md section 12). */
export type Change = {
  [Kind in ChangeKind]: {
    readonly kind: Kind;
    /** Of the object; undefined for what has none. */
    readonly namespace: string | undefined;
    readonly data: StreamData[Kind];
  };
}[ChangeKind];

export type NumberedChange = Change & { readonly id: number; readonly at: Instant };

/** Writes changes with the rows they speak of, in the same transaction; listeners of the store hear of them once it is committed. */
export async function recordChanges(tx: Tx, changes: readonly Change[]): Promise<void> {
  const at = tx.now();
  for (const each of changes) {
    const move = moveOf(each);
    if (move) noteMove(tx, move);
  }
  await insertRows(tx, {
    table: 'changes',
    columns: ['at', 'epoch', 'kind', 'namespace', 'data'],
    rows: changes.map(({ kind, namespace, data }) => [at, tx.epoch, kind, namespace, toJson(data)]),
  });
}

/** For a write that the event stream does not tell: listeners of the store hear of it after the commit. */
export function noteMove(tx: Tx, move: Move): void {
  tx.moves?.push(move);
}

/** Readiness of a channel, and a message about no alert, move no figure. */
function moveOf({ kind, namespace, data }: Change): Move | undefined {
  if (kind === 'channel') return undefined;
  if (kind === 'alert') return { namespace, alertId: data.id };
  if (kind === 'delivery') return data.alertId === null ? undefined : { alertId: data.alertId };
  return { namespace };
}

/**
 * Changes after a cursor, oldest first. Numbers can commit out of order: a reader asks again for the last seconds and drops
 * what it has seen.
 */
export async function listChanges(
  db: Db,
  after: { readonly id: number; readonly limit: number },
): Promise<NumberedChange[]> {
  const found = await rows(
    db,
    `select id, at, kind, namespace, data from changes where id > ? order by id limit ${Math.floor(after.limit)}`,
    [after.id],
  );
  return found.map(
    (row) =>
      ({
        id: Number(row['id']),
        at: Number(row['at']),
        kind: String(row['kind']),
        namespace: optionalText(row['namespace']),
        data: fromJson(row['data']),
        // Written by recordChanges, which takes nothing else.
      }) as NumberedChange,
  );
}

/** Removes the changes before `before`, at most one batch. Returns how many: ask again while it is not 0. */
export async function forgetChanges(db: Db, before: Instant): Promise<number> {
  const { dialect } = db;
  return change(db, dialect.deleteBatch({ table: 'changes', where: 'at < ?', limit: dialect.deleteBatchRows }), [
    before,
  ]);
}

/** The oldest and the newest id of the changes that are kept; undefined when nothing is. */
export async function findChangeBounds(db: Db): Promise<{ oldest: number; newest: number } | undefined> {
  const row = await firstRow(db, 'select min(id) as oldest, max(id) as newest from changes');
  if (!row || row['newest'] === null) return undefined;
  return { oldest: Number(row['oldest']), newest: Number(row['newest']) };
}

/** Newest changes that the mark looks at: more do not commit out of order. */
const newestOnes = 200;

/**
 * A text that is another one after every change. The newest id alone would not do: of two that are written at once the lesser may
 * commit later, and then only moves the end of the newest ones, or their number.
 */
export async function findChangeMark(db: Db): Promise<string> {
  const row = await firstRow(
    db,
    'select count(*) as n, min(id) as oldest, max(id) as newest from (select id from changes order by id desc limit ?) t',
    [newestOnes],
  );
  return `${String(row?.['n'])} ${String(row?.['oldest'])} ${String(row?.['newest'])}`;
}
