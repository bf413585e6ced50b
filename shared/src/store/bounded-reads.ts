import { inParts, marks, type Row, rows } from './ask.ts';
import type { Db } from './database.ts';
import { rowsIn } from './upsert.ts';

/** A statement names so many CronJobs, and reads about so many rows at most. */
const idsPerStatement = 500;
export const rowsPerStatement = 50_000;

/** Parts that one statement may name and answer. */
export function* inBoundedParts<T extends { readonly rows: number }>(items: readonly T[]): Generator<readonly T[]> {
  let part: T[] = [];
  let expected = 0;
  for (const item of items) {
    const isFull = part.length >= idsPerStatement || expected + item.rows > rowsPerStatement;
    if (part.length > 0 && isFull) {
      yield part;
      part = [];
      expected = 0;
    }
    part.push(item);
    expected += item.rows;
  }
  if (part.length > 0) yield part;
}

/** Pieces of one statement; SQLite takes 500, and each costs the planner something. */
const piecesPerStatement = 250;

/** The end of one key range of a table, of every CronJob. */
interface NewestOf {
  /** Columns; `cronjob_id` is added. */
  readonly select: string;
  /** Fixed conditions beside the CronJob; words and numbers of ours only, no placeholder. */
  readonly where: string;
  /** Column of an index that begins with what `where` fixes. */
  readonly orderBy: string;
  readonly limit: number;
}

/**
 * The newest rows of each CronJob, at most `limit` of each range, in no order. A window function would read whole histories; each piece
 * here reads the end of one index range, and 250 of them are one statement.
 */
export async function listNewestOfEach(
  db: Db,
  cronJobIds: readonly number[],
  ranges: readonly NewestOf[],
): Promise<Row[]> {
  const found: Row[] = [];
  const most = 2 ** Math.floor(Math.log2(piecesPerStatement / ranges.length));
  for (const ids of inParts(cronJobIds, most, -1)) {
    const pieces = ids.flatMap((_, index) =>
      ranges.map(
        ({ select, where, orderBy, limit }, range) =>
          `select * from (select cronjob_id, ${select} from executions where cronjob_id = ? and ${where} ` +
          `order by ${orderBy} desc limit ${Math.floor(limit)}) e${index}_${range}`,
      ),
    );
    const bindings = ids.flatMap((id) => ranges.map(() => id));
    found.push(...(await rows(db, pieces.join(' union all '), bindings)));
  }
  return found;
}

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
