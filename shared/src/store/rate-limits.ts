import type { Instant } from '../domain/index.ts';
import { insertRows } from './ask.ts';
import type { Db, Tx } from './database.ts';
import { toId16 } from './id16.ts';
import { rowsIn, updateAll } from './upsert.ts';

/** The limit of all channels together. */
export const globalScope = 'global';

export function channelScope(channelUid: string): string {
  return toId16(channelUid);
}

/** The scope of what comes on top of a limit for critical messages. */
export function criticalScope(scope: string): string {
  return `${scope}/critical`;
}

/**
 * The instants of these limits by scope, locked until the transaction ends: global first, then by channel. A limit that was never
 * asked gets its row, so that there is something to lock.
 */
export async function lockRateLimits(tx: Tx, scopes: readonly string[]): Promise<Map<string, Instant>> {
  const ordered = [...new Set(scopes)].toSorted(byScope);
  const found = await lockRows(tx, ordered);
  const missing = ordered.filter((scope) => !found.has(scope));
  if (missing.length === 0) return found;
  await insertRows(tx, {
    table: 'rate_limits',
    columns: ['scope', 'tat'],
    rows: missing.map((scope) => [scope, 0]),
    tail: tx.dialect.ifAbsent(['scope']),
  });
  return lockRows(tx, ordered);
}

async function lockRows(tx: Tx, scopes: readonly string[]): Promise<Map<string, Instant>> {
  return readRows(tx, scopes, tx.dialect.lock.update);
}

/** The instants of these limits by scope, as they are; a limit that was never asked is absent. */
export async function listRateLimits(db: Db, scopes: readonly string[]): Promise<Map<string, Instant>> {
  return readRows(db, scopes, '');
}

async function readRows(db: Db, scopes: readonly string[], lock: string): Promise<Map<string, Instant>> {
  const found = await rowsIn(
    db,
    scopes,
    (marks) =>
      `select scope, tat from rate_limits where scope in (${marks}) order by case when scope = '${globalScope}' then 0 else 1 end, scope${lock}`,
  );
  return new Map(found.map((row) => [String(row['scope']), Number(row['tat'])]));
}

export async function putRateLimits(tx: Tx, tats: ReadonlyMap<string, Instant>): Promise<void> {
  await insertRows(tx, {
    table: 'rate_limits',
    columns: ['scope', 'tat'],
    rows: [...tats].toSorted(([a], [b]) => byScope(a, b)),
    tail: updateAll(tx.dialect, ['scope'], ['tat']),
  });
}

function byScope(a: string, b: string): number {
  if (a === b) return 0;
  if (a === globalScope) return -1;
  return b === globalScope || a > b ? 1 : -1;
}
