import type { Ref } from '../../contract/index.ts';
import { refText } from '../../contract/wording.ts';
import type { Instant } from '../../domain/index.ts';
import { inParts, marks, rows, type Row } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { conditionOf, type CronJobFilter } from './cron-job-filter.ts';
import { selectCronJobs, toCronJobRow, type CronJobRow } from './cron-job-row.ts';

/** A CronJob as far as lists are filtered, counted and ordered by it: small enough to be kept of a whole fleet. */
export interface CronJobOutline extends CronJobRow {
  /** Start of the newest run, or the creation of its Job while that is unknown. */
  readonly lastRunAt: Instant | undefined;
  readonly lastDurationMs: number | undefined;
}

const selection = `${selectCronJobs([], ['last_run_at', 'last_duration_ms'])} join cronjob_list l on l.cronjob_id = c.id`;

/** Names of one statement: it looks for each in every namespace that is named. */
const namesPerStatement = 100;

/** Outlines of all that a filter lets through, or of those among them that have one of these names; in no order. */
export async function listOutlines(
  db: Db,
  filter: CronJobFilter,
  names?: readonly Ref[],
): Promise<readonly CronJobOutline[]> {
  const { sql, bindings } = conditionOf(filter);
  if (names === undefined) return (await rows(db, `${selection} where ${sql}`, bindings)).map(toOutline);
  const found: CronJobOutline[] = [];
  for (const part of inParts(names, namesPerStatement)) {
    const wanted = new Set(part.map(refText));
    const namespaces = [...new Set(part.map(({ namespace }) => namespace))];
    const sought = `l.namespace in (${marks(namespaces)}) and l.name in (${marks(part)})`;
    const values = [...bindings, ...namespaces, ...part.map(({ name }) => name)];
    const outlines = (await rows(db, `${selection} where ${sql} and ${sought}`, values)).map(toOutline);
    found.push(...outlines.filter((one) => wanted.has(refText(one))));
  }
  return found;
}

function toOutline(row: Row): CronJobOutline {
  return {
    ...toCronJobRow(row),
    lastRunAt: optionalNumber(row['last_run_at']),
    lastDurationMs: optionalNumber(row['last_duration_ms']),
  };
}
