import type { Instant } from '../domain/index.ts';
import { change, findById, insertRows, rows, type Row } from './ask.ts';
import { optionalText } from './column.ts';
import type { Db, Tx } from './database.ts';
import { updateAll } from './upsert.ts';

/** A row of `actions` as an account that can write the table has left it: nothing of it is true before its `mac` is. */
export interface AskedAction {
  readonly id: string;
  /** Name of an operation of the API, or `agent`. */
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  /** JSON text, as it was written. */
  readonly args: string;
  readonly askedBy: string;
  readonly mac: string;
  readonly expiresAt: Instant;
}

interface StoredAction extends AskedAction {
  readonly state: 'asked' | 'claimed' | 'done' | 'refused' | 'expired';
  readonly claimedBy: string | undefined;
  readonly result: string | undefined;
}

const columns = ['id', 'created_at', 'expires_at', 'kind', 'state', 'namespace', 'name', 'mac', 'args', 'asked_by'];
const selected = [...columns, 'claimed_by', 'result'].join(', ');

/** Actions that wait at most; each is gone or done some seconds later. */
const mostWaiting = 500;

/** False: too many wait already. Throws `StoreError`: `refused` where the account may not. */
export async function askAction(db: Db, action: AskedAction): Promise<boolean> {
  const waiting = `select count(*) as n from actions where state = 'asked' and expires_at > ?`;
  const [row] = await rows(db, waiting, [db.now()]);
  if (Number(row?.['n']) >= mostWaiting) return false;
  await insert(db, action, { state: 'asked' });
  return true;
}

/** An agent says that it takes actions until its row expires. Its id is its own for ever. */
export async function presentAgent(db: Db, agent: AskedAction): Promise<void> {
  await insert(db, agent, { state: 'done', tail: updateAll(db.dialect, ['id'], ['expires_at', 'mac']) });
}

async function insert(
  db: Db,
  { id, expiresAt, kind, namespace, name, mac, args, askedBy }: AskedAction,
  { state, tail = '' }: { readonly state: string; readonly tail?: string },
): Promise<void> {
  const row = [db.dialect.id16(id), db.now(), expiresAt, kind, state, namespace, name, mac, args, askedBy];
  await insertRows(db, { table: 'actions', columns, rows: [row], tail });
}

/** Rows of agents that have not expired. */
export async function listAgents(db: Db): Promise<readonly AskedAction[]> {
  const sql = `select ${selected} from actions where state = 'done' and kind = 'agent' and expires_at > ? limit 100`;
  return (await rows(db, sql, [db.now()])).map((row) => toAction(db, row));
}

/** Actions that no agent has taken, the oldest first. */
export async function listAskedActions(db: Db, limit: number): Promise<readonly AskedAction[]> {
  const found = await rows(db, `select ${selected} from actions where state = 'asked' order by id limit ${limit}`);
  return found.map((row) => toAction(db, row));
}

/** Undefined: no such action. */
export async function findAction(db: Db, id: string): Promise<StoredAction | undefined> {
  return findById(db, `select ${selected} from actions where id = ?`, id, toAction);
}

/** True for one caller alone, and not once the action has expired by the clock of the database. */
export async function claimAction(db: Db, id: string, claimedBy: string): Promise<boolean> {
  const sql = `update actions set state = 'claimed', claimed_by = ? where id = ? and state = 'asked' and expires_at > ?`;
  return (await change(db, sql, [claimedBy, db.dialect.id16(id), db.now()])) === 1;
}

/** Takes the question back: true where no agent has taken it, and none will. */
export async function expireAction(db: Db, id: string): Promise<boolean> {
  const sql = `update actions set state = 'expired', ended_at = ? where id = ? and state = 'asked'`;
  return (await change(db, sql, [db.now(), db.dialect.id16(id)])) === 1;
}

/** Stores the result that the claiming agent reports. */
export async function endAction(
  db: Db,
  { id, claimedBy, state, result }: { id: string; claimedBy: string; state: 'done' | 'refused'; result: string },
): Promise<void> {
  const sql = `update actions set state = ?, ended_at = ?, result = ? where id = ? and state = 'claimed' and claimed_by = ?`;
  await change(db, sql, [state, db.now(), result, db.dialect.id16(id), claimedBy]);
}

/** Drops a result that its caller has read: a log stays no longer than needed. */
export async function forgetResult(db: Db, id: string): Promise<void> {
  await change(db, 'update actions set result = null where id = ?', [db.dialect.id16(id)]);
}

/** Removes what expired before `before`. */
export async function forgetActions(tx: Tx, before: Instant): Promise<number> {
  return change(tx, 'delete from actions where expires_at < ?', [before]);
}

function toAction(db: Db, row: Row): StoredAction {
  return {
    id: db.dialect.id16Text(row['id']),
    kind: String(row['kind']),
    namespace: String(row['namespace']),
    name: String(row['name']),
    args: String(row['args']),
    askedBy: String(row['asked_by']),
    mac: String(row['mac']),
    expiresAt: Number(row['expires_at']),
    state: row['state'] as StoredAction['state'],
    claimedBy: optionalText(row['claimed_by']),
    result: optionalText(row['result']),
  };
}
