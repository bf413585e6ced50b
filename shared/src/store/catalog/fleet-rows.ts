import { marks, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/**
 * Rows of a SELECT over the runs of all CronJobs in a span of creation, or of those of some namespaces; `toSql` gets a condition on
 * `cronjob_id`. Where a summary of ranges has the span it is one pass. Elsewhere only the runs of each CronJob lie in that order, and some
 * hundred are asked at a time: then there are as many answers.
 */
export async function rowsOfFleet(
  db: Db,
  toSql: (condition: string) => string,
  bindings: readonly unknown[],
  namespaces: readonly string[] = [],
): Promise<readonly Row[]> {
  const within = namespaces.length > 0 ? ` where namespace in (${marks(namespaces)})` : '';
  const select = `select id from cronjobs${within}`;
  if (db.dialect.hasHeap) {
    const condition = namespaces.length > 0 ? ` and cronjob_id in (${select})` : '';
    return rows(db, toSql(condition), [...bindings, ...namespaces]);
  }
  const ids = (await rows(db, `${select} order by id`, namespaces)).map((row) => Number(row['id']));
  return rowsIn(db, ids, (list) => toSql(` and cronjob_id in (${list})`), bindings);
}
