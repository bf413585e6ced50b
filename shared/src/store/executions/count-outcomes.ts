import { dayMs, type Instant } from '../../domain/index.ts';
import { rows, type Row } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import { rowsOfFleet } from '../bounded-reads.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';

/** Scheduled runs of one CronJob in a window: what its success rate is made of. */
export interface OutcomeCounts {
  readonly success: number;
  readonly failed: number;
  /** Rows of the day in which the window begins are pruned: the whole day was counted. */
  readonly approximate: boolean;
  /**
   * Creation of the earliest run that was counted of the day in which the window begins: until the window begins after it on the same day, they
   * are the same. Undefined: no row of that day was counted.
   */
  readonly firstAt: Instant | undefined;
}

interface Sums {
  success: number;
  failed: number;
}

interface Edge {
  readonly sums: Sums;
  readonly approximate: boolean;
  readonly firstAt: Instant | undefined;
}

/**
 * Scheduled successes and failures of each CronJob in [from, to), by the Job's creation; one without any is absent. Whole UTC
 * days come from the daily figures, the days at the edges from rows (storage.md section 6); runs in a maintenance window that
 * leaves them out are in neither. Ids absent: the whole fleet.
 */
export async function countOutcomes(
  db: Db,
  window: { readonly from: Instant; readonly to: Instant },
  cronJobIds?: readonly number[],
): Promise<ReadonlyMap<number, OutcomeCounts>> {
  const { from, to } = window;
  const firstWholeDay = Math.ceil(from / dayMs);
  const lastDay = Math.floor((to - 1) / dayMs);
  // The day of `to` is whole when nothing of it can lie beyond, as it is today.
  const lastWholeDay = to % dayMs === 0 ? lastDay : lastDay - 1;
  const counts = new Map<number, Sums & { approximate: boolean; firstAt: Instant | undefined }>();
  const add = (id: number, { sums, approximate, firstAt }: Edge): void => {
    const sum = counts.get(id) ?? { success: 0, failed: 0, approximate: false, firstAt: undefined };
    sum.success += sums.success;
    sum.failed += sums.failed;
    sum.approximate ||= approximate;
    sum.firstAt ??= firstAt;
    counts.set(id, sum);
  };

  if (firstWholeDay <= lastWholeDay) {
    for (const [id, sums] of await sumDays(db, firstWholeDay, lastWholeDay, cronJobIds))
      add(id, { sums, approximate: false, firstAt: undefined });
  }
  const edges = new Set<number>();
  if (from % dayMs !== 0) edges.add(Math.floor(from / dayMs));
  if (to % dayMs !== 0) edges.add(lastDay);
  for (const day of edges) {
    const isFirst = day === Math.floor(from / dayMs);
    for (const [id, edge] of await sumEdgeDay(db, day, window, cronJobIds))
      add(id, isFirst ? edge : { ...edge, firstAt: undefined });
  }
  for (const [id, { success, failed }] of counts) if (success + failed === 0) counts.delete(id);
  return counts;
}

async function sumDays(
  db: Db,
  firstDay: number,
  lastDay: number,
  cronJobIds: readonly number[] | undefined,
): Promise<ReadonlyMap<number, Sums>> {
  // The whole fleet is found by the index of days, which begins with `dirty`; some CronJobs by their key.
  const byDay = cronJobIds === undefined ? ' and dirty in (0, 1)' : '';
  const sql = (condition: string): string =>
    'select cronjob_id, sum(success) as n_success, sum(failed) as n_failed from rollups ' +
    `where day between ? and ?${byDay}${condition} group by cronjob_id`;
  return toSums(await askFor(db, sql, [firstDay, lastDay], cronJobIds));
}

/** The part of one day that lies in the window; the whole day where its rows are no longer all there. */
async function sumEdgeDay(
  db: Db,
  day: number,
  window: { readonly from: Instant; readonly to: Instant },
  cronJobIds: readonly number[] | undefined,
): Promise<ReadonlyMap<number, Edge>> {
  const [start, end] = [day * dayMs, (day + 1) * dayMs];
  const within = [Math.max(window.from, start), Math.min(window.to, end)];
  // Maintenance is asked in the sums and not among the conditions: how many rows pass a test of bits no database can guess.
  const sum = (condition: string): string =>
    `sum(case when (e.flags & ${flagBits.inMaintenance}) = 0${condition} then 1 else 0 end)`;
  const inWindow = (status: 'success' | 'failed'): string =>
    sum(` and e.status = ${statusWords.toNumber(status)} and e.created_at >= ? and e.created_at < ?`);
  const sql = (condition: string): string =>
    `select e.cronjob_id, ${inWindow('success')} as n_success, ${inWindow('failed')} as n_failed, ${sum('')} as n_all, ` +
    'min(case when e.created_at >= ? and e.created_at < ? then e.created_at end) as first_at ' +
    `from executions e where e.created_at >= ? and e.created_at < ? and e."trigger" = ${triggerWords.toNumber('scheduled')} ` +
    `and e.status in (${statusWords.toNumber('success')}, ${statusWords.toNumber('failed')})` +
    `${condition} group by e.cronjob_id`;
  const bindings = [...within, ...within, ...within, start, end];
  const found = await (cronJobIds ? askFor(db, sql, bindings, cronJobIds) : rowsOfFleet(db, sql, bindings));
  const kept = new Map(found.map((row) => [Number(row['cronjob_id']), row]));
  const edges = new Map<number, Edge>();
  for (const [id, whole] of await sumDays(db, day, day, cronJobIds)) {
    const row = kept.get(id);
    const isPruned = Number(row?.['n_all'] ?? 0) < whole.success + whole.failed;
    const edge =
      isPruned || !row
        ? { sums: whole, approximate: true, firstAt: undefined }
        : { sums: toSum(row), approximate: false, firstAt: optionalNumber(row['first_at']) };
    edges.set(id, edge);
  }
  return edges;
}

async function askFor(
  db: Db,
  sql: (condition: string) => string,
  bindings: readonly unknown[],
  cronJobIds: readonly number[] | undefined,
): Promise<readonly Row[]> {
  if (cronJobIds === undefined) return rows(db, sql(''), bindings);
  return rowsIn(db, cronJobIds, (marks) => sql(` and cronjob_id in (${marks})`), bindings);
}

function toSums(found: readonly Row[]): ReadonlyMap<number, Sums> {
  return new Map(found.map((row) => [Number(row['cronjob_id']), toSum(row)]));
}

function toSum(row: Row): Sums {
  return { success: Number(row['n_success'] ?? 0), failed: Number(row['n_failed'] ?? 0) };
}
