import type { Store } from '@cronjob-monitor/shared/store';

/** Rows as they stand in the database, asked beside the store's own questions. */
export async function readRows(
  store: Store,
  sql: string,
  bindings: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  return [...store.dialect.rowsOf(await store.sql.raw(sql, bindings as never))];
}

/** One number of a `select … as n`. */
export async function readNumber(store: Store, sql: string, bindings: unknown[] = []): Promise<number> {
  const [row] = await readRows(store, sql, bindings);
  return Number(row?.['n']);
}
