import { inParts, rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';

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
