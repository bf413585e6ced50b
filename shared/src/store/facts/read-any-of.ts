import { rows, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { isCounted, isScheduled } from './run-conditions.ts';

/** A statement names so many CronJobs, and reads about so many rows at most. */
const idsPerStatement = 500;
export const rowsPerStatement = 50_000;

/** One condition on executions, on an index. */
interface RunCondition {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** About how many rows it finds. */
  readonly rows: number;
}

/** Reads the durations of counted scheduled runs that meet one of these conditions, in statements that stay bounded. */
export async function readAnyOf(db: Db, conditions: readonly RunCondition[], take: (row: Row) => void): Promise<void> {
  for (const part of inBoundedParts(conditions)) {
    const select =
      `select cronjob_id, created_at, finished_at, duration_ms from executions where ${isScheduled} and ${isCounted} ` +
      `and duration_ms is not null and finished_at is not null and (${part.map(({ sql }) => `(${sql})`).join(' or ')})`;
    const bindings = part.flatMap((condition) => condition.bindings);
    for (const row of await rows(db, select, bindings)) take(row);
  }
}

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
