import type { ChangeKind, StreamData } from '../contract/index.ts';
import type { Instant } from '../domain/index.ts';
import { change, insertRows, rows } from './ask.ts';
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
