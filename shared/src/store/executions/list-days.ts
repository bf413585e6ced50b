import { dayMs, decodeSketch, sketchPercentile, sketchSize, startOfDay } from '../../domain/index.ts';
import { firstRow, inParts, marks, rows, type Row } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { isRankOf } from './measure-durations.ts';

/** Counts of one UTC day. `success` and `failed` are scheduled runs. */
export interface DayCounts {
  /** Days since 1970. */
  readonly day: number;
  readonly success: number;
  readonly failed: number;
  readonly replaced: number;
  readonly deleted: number;
  readonly unobserved: number;
  readonly manual: number;
  readonly late: number;
  readonly missed: number;
  readonly skipped: number;
  readonly suspended: number;
  readonly unseen: number;
  readonly alerts: number;
}

/** Durations of the successful scheduled runs of one day, milliseconds. */
export interface DayDurations {
  readonly avgMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly maxMs: number;
  /** From the sketch of the day: its rows are no longer all there. */
  readonly approximate: boolean;
}

/** Whose days: ids, or all CronJobs that belong to these namespaces and are selected by this monitor. */
export type DaysOf =
  | { readonly cronJobIds: readonly number[] }
  | {
      readonly namespaces: readonly string[];
      readonly monitor?: { readonly namespace: string; readonly name: string } | undefined;
    };

const counters = [
  'success',
  'failed',
  'replaced',
  'deleted',
  'unobserved',
  'manual',
  'late',
  'missed',
  'skipped',
  'suspended',
  'unseen',
  'alerts',
] as const;

/** Days on which something was counted, rising; the others are zero. */
export async function listDays(
  db: Db,
  of: DaysOf,
  days: { readonly from: number; readonly to: number },
): Promise<DayCounts[]> {
  const { sql, bindings } = conditionOf(of);
  const sums = counters.map((counter) => `sum(r."${counter}") as n_${counter}`).join(', ');
  const found = await rows(
    db,
    `select r.day, ${sums} from rollups r where r.day between ? and ?${sql} group by r.day order by r.day`,
    [days.from, days.to, ...bindings],
  );
  return found.map((row) => ({
    day: Number(row['day']),
    ...(Object.fromEntries(counters.map((counter) => [counter, Number(row[`n_${counter}`] ?? 0)])) as Omit<
      DayCounts,
      'day'
    >),
  }));
}

/** Figures of one CronJob on one UTC day. `longestMs`: of its successful scheduled runs. */
export interface DayOfCronJob {
  readonly day: number;
  readonly success: number;
  readonly failed: number;
  /** Expected runs that never started. */
  readonly missed: number;
  readonly longestMs: number | undefined;
}

/** The days of each of these CronJobs, rising; a day on which nothing was counted is absent. */
export async function listDaysOfEach(
  db: Db,
  cronJobIds: readonly number[],
  days: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<number, readonly DayOfCronJob[]>> {
  const found: Row[] = [];
  for (const ids of inParts(cronJobIds)) {
    const ofIds =
      `select cronjob_id, day, success, failed, missed, duration_n, duration_max from rollups where cronjob_id in (${marks(ids)}) ` +
      'and day between ? and ? order by day';
    found.push(...(await rows(db, ofIds, [...ids, days.from, days.to])));
  }
  const ofEach = Map.groupBy(found, (row) => Number(row['cronjob_id']));
  return new Map(
    [...ofEach].map(([id, ofDay]) => [
      id,
      ofDay.map((row) => ({
        day: Number(row['day']),
        success: Number(row['success']),
        failed: Number(row['failed']),
        missed: Number(row['missed']),
        longestMs: Number(row['duration_n']) > 0 ? optionalNumber(row['duration_max']) : undefined,
      })),
    ]),
  );
}

/** The oldest day with figures; undefined: no day has figures. */
export async function findOldestDay(db: Db, of: DaysOf): Promise<number | undefined> {
  const { sql, bindings } = conditionOf(of);
  const row = await firstRow(db, `select min(r.day) as oldest from rollups r where r.day >= 0${sql}`, bindings);
  return row && optionalNumber(row['oldest']);
}

/**
 * Durations by day of some CronJobs: from rows while those of the day are all there, else from the sketch of the day. A day
 * without a duration is absent.
 */
export async function listDayDurations(
  db: Db,
  cronJobIds: readonly number[],
  days: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<number, DayDurations>> {
  const durations = new Map<number, DayDurations>();
  if (cronJobIds.length === 0) return durations;
  const [counted, measured] = await Promise.all([
    rows(
      db,
      `select day, duration_n, duration_sum, duration_max, sketch from rollups where cronjob_id in (${marks(cronJobIds)}) ` +
        'and day between ? and ? and duration_n > 0',
      [...cronJobIds, days.from, days.to],
    ),
    measureDays(db, cronJobIds, days),
  ]);
  for (const [day, ofDay] of Map.groupBy(counted, (row) => Number(row['day']))) {
    const count = ofDay.reduce((sum, row) => sum + Number(row['duration_n']), 0);
    const exact = measured.get(day);
    if (exact && exact.count >= count) {
      durations.set(day, exact.durations);
      continue;
    }
    const sketched = fromSketches(ofDay, count);
    if (sketched) durations.set(day, sketched);
  }
  return durations;
}

interface Measured {
  readonly count: number;
  readonly durations: DayDurations;
}

/** Nearest rank of each day over the rows that are kept. */
async function measureDays(
  db: Db,
  cronJobIds: readonly number[],
  days: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<number, Measured>> {
  const dayStart = 'created_at - created_at % 86400000';
  const values =
    `select ${dayStart} as day_start, duration_ms, row_number() over (partition by ${dayStart} order by duration_ms) as rank_no, ` +
    `count(*) over (partition by ${dayStart}) as n, sum(duration_ms) over (partition by ${dayStart}) as total ` +
    `from executions where cronjob_id in (${marks(cronJobIds)}) and created_at >= ? and created_at < ? ` +
    `and status = ${statusWords.toNumber('success')} and "trigger" = ${triggerWords.toNumber('scheduled')} ` +
    `and duration_ms is not null and (flags & ${flagBits.inMaintenance}) = 0`;
  const found = await rows(
    db,
    `select day_start, duration_ms, rank_no, n, total from (${values}) v where ${isRankOf([50, 95, 100])} order by day_start, rank_no`,
    [...cronJobIds, startOfDay(days.from), startOfDay(days.to + 1)],
  );
  const measured = new Map<number, Measured>();
  for (const [dayStartAt, ofDay] of Map.groupBy(found, (row) => Number(row['day_start']))) {
    const [first] = ofDay;
    const count = Number(first?.['n']);
    const at = (p: number): number =>
      Number(ofDay.find((row) => 100 * Number(row['rank_no']) >= p * count)?.['duration_ms']);
    const avgMs = Number(first?.['total']) / count;
    measured.set(dayStartAt / dayMs, {
      count,
      durations: { avgMs, p50Ms: at(50), p95Ms: at(95), maxMs: at(100), approximate: false },
    });
  }
  return measured;
}

/** Undefined while a day is not sealed: its rows are all there, or it has no figures at all. */
function fromSketches(ofDay: readonly Row[], count: number): DayDurations | undefined {
  const [row] = ofDay;
  const bytes = row?.['sketch'];
  if (ofDay.length !== 1 || !(bytes instanceof Uint8Array)) return undefined;
  const sketch = decodeSketch(bytes);
  if (sketchSize(sketch) === 0) return undefined;
  return {
    avgMs: Number(row?.['duration_sum']) / count,
    p50Ms: sketchPercentile(sketch, 0.5) ?? 0,
    p95Ms: sketchPercentile(sketch, 0.95) ?? 0,
    maxMs: Number(row?.['duration_max'] ?? 0),
    approximate: true,
  };
}

function conditionOf(of: DaysOf): { sql: string; bindings: readonly unknown[] } {
  if ('cronJobIds' in of) {
    if (of.cronJobIds.length === 0) return { sql: ' and 1 = 0', bindings: [] };
    return { sql: ` and r.cronjob_id in (${marks(of.cronJobIds)})`, bindings: of.cronJobIds };
  }
  const { namespaces, monitor } = of;
  // A fleet is found by the index of days, which begins with `dirty`.
  const parts: string[] = ['r.dirty in (0, 1)'];
  const bindings: unknown[] = [];
  if (namespaces.length > 0) {
    parts.push(`r.cronjob_id in (select id from cronjobs where namespace in (${marks(namespaces)}))`);
    bindings.push(...namespaces);
  }
  if (monitor) {
    parts.push(
      'r.cronjob_id in (select t.cronjob_id from monitor_targets t join monitors m on m.id = t.monitor_id ' +
        'where t.removed_at is null and m.deleted_at is null and m.namespace = ? and m.name = ?)',
    );
    bindings.push(monitor.namespace, monitor.name);
  }
  return { sql: parts.map((part) => ` and ${part}`).join(''), bindings };
}
