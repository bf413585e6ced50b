import {
  dayMs,
  dayOf,
  decodeSketch,
  factsReach,
  type Instant,
  mergeSketches,
  type Sketch,
  sketchOf,
  sketchPercentile,
  sketchSize,
  startOfDay,
  withoutSketch,
} from '../../domain/index.ts';
import { inParts, marks, type Row, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { inBoundedParts, rowsPerStatement } from '../bounded-reads.ts';
import { isCounted, isScheduled, isSuccess } from '../words.ts';

/** Durations of successful scheduled runs: the recent ones, and what came before them (detection.md section 3.5). */
export interface DurationShift {
  /** Of the runs that ended in the last 24 h, or of the last 5 when those are fewer; newest end first, milliseconds. */
  readonly recentMs: readonly number[];
  readonly newestEndAt: Instant | undefined;
  /** The runs before those. Percentiles within 1 %: they come from the sketches of days. Zeros without a run. */
  readonly baseline: { readonly runs: number; readonly p25: number; readonly p75: number; readonly p95: number };
}

const hoursRecent = 24;
const { recentRuns: fewestRecent, baselineRuns: fewestBaseline } = factsReach;
const oldestDays = 400;

interface WantedShift {
  readonly now: Instant;
  readonly baselineWindowMs: number;
  /** By CronJob: runs that ended earlier are history, in neither part. Absent: all count. */
  readonly sinceOf?: ReadonlyMap<number, Instant> | undefined;
}

interface Day {
  readonly day: number;
  readonly runs: number;
  /** As stored; undefined while the day is not sealed. */
  readonly sketch: Uint8Array | undefined;
}

interface Run {
  readonly createdAt: Instant;
  readonly endedAt: Instant;
  readonly durationMs: number;
}

/** One CronJob's figures by day, newest first, and the day from which its rows are read. */
interface Plan {
  readonly id: number;
  readonly days: readonly Day[];
  readonly sinceDay: number;
  /** Earlier ends are left out. */
  readonly sinceAt: Instant;
  /** About how many rows that are. */
  readonly rows: number;
}

/**
 * Recent durations and baseline of each CronJob; runs left out of the SLA by a maintenance window are in neither, and a CronJob without a
 * run is absent. Recent runs come from rows, the baseline from sealed days: whole UTC days before the day from which rows are read, as many
 * as the window has, and further back where they hold fewer than 20 runs. A day that is not sealed is read from rows. With `sinceOf` a run
 * that ended earlier is in neither part, nor in the baseline one that was created on an earlier UTC day.
 */
export async function measureDurationShift(
  db: Db,
  cronJobIds: readonly number[],
  wanted: WantedShift,
): Promise<ReadonlyMap<number, DurationShift>> {
  const { now, baselineWindowMs, sinceOf } = wanted;
  const windowDays = Math.ceil(baselineWindowMs / dayMs);
  const shifts = new Map<number, DurationShift>();
  for (const ids of inParts(cronJobIds)) {
    const days = await listDays(db, ids, now, windowDays);
    const plans = [...days].map(([id, ofOne]) => toPlan(id, ofOne, { now, sinceAt: sinceOf?.get(id) ?? -Infinity }));
    for (const bounded of inBoundedParts(plans)) {
      const runs = await listRunsSince(db, bounded);
      const parts = bounded.map((plan) => splitRuns(plan, runs.get(plan.id) ?? [], now, windowDays));
      const unsealed = await sketchUnsealedDays(db, parts);
      for (const part of parts) shifts.set(part.plan.id, toShift(part, unsealed));
    }
  }
  return shifts;
}

async function listDays(
  db: Db,
  ids: readonly number[],
  now: Instant,
  windowDays: number,
): Promise<ReadonlyMap<number, readonly Day[]>> {
  const today = dayOf(now);
  // A daily run finds its five runs, its window and its 20 in the first statement.
  const firstDay = today - Math.max(windowDays, fewestBaseline) - fewestRecent - 1;
  const ask = async (of: readonly number[], from: number, to: number): Promise<ReadonlyMap<number, readonly Day[]>> => {
    const days = new Map<number, Day[]>();
    const sql =
      `select cronjob_id, day, duration_n, sketch from rollups where duration_n > 0 and day between ${from} and ${to} ` +
      'and cronjob_id in ';
    for (const part of inParts(of, Math.max(1, Math.floor(rowsPerStatement / (to - from + 1))))) {
      for (const row of await rows(db, `${sql}(${marks(part)})`, part)) {
        const id = Number(row['cronjob_id']);
        const ofOne = days.get(id) ?? [];
        days.set(id, ofOne);
        ofOne.push(toDay(row));
      }
    }
    for (const ofOne of days.values()) ofOne.sort((a, b) => b.day - a.day);
    return days;
  };
  const near = await ask(ids, firstDay, today + 1);
  const seldom = ids.filter((id) => {
    const days = near.get(id) ?? [];
    const runs = days.reduce((sum, { runs: ofDay }) => sum + ofDay, 0);
    return runs < fewestBaseline + fewestRecent || firstDayOfRows(days, now) - windowDays < firstDay;
  });
  const far = await ask(seldom, today - oldestDays, firstDay - 1);
  return new Map(
    ids.flatMap((id) => {
      const days = [...(near.get(id) ?? []), ...(far.get(id) ?? [])];
      return days.length === 0 ? [] : [[id, days] as const];
    }),
  );
}

function toDay(row: Row): Day {
  const bytes = row['sketch'];
  return {
    day: Number(row['day']),
    runs: Number(row['duration_n']),
    sketch: bytes instanceof Uint8Array ? bytes : undefined,
  };
}

/** Rows are read from the day that has the fifth newest run, and of the last 24 h in any case. */
function firstDayOfRows(days: readonly Day[], now: Instant): number {
  let runs = 0;
  let first = dayOf(now - hoursRecent * 3_600_000);
  for (const { day, runs: ofDay } of days) {
    if (runs >= fewestRecent) break;
    runs += ofDay;
    first = Math.min(first, day);
  }
  return first;
}

/** The sketch of the day on which history ends holds runs of both sides: its rows are read, and what was created before it is history. */
function toPlan(
  id: number,
  all: readonly Day[],
  { now, sinceAt }: { readonly now: Instant; readonly sinceAt: Instant },
): Plan {
  const firstDay = sinceAt === -Infinity ? -Infinity : dayOf(sinceAt);
  const days = all
    .filter(({ day }) => day >= firstDay)
    .map((one) => (one.day === firstDay ? { ...one, sketch: undefined } : one));
  const sinceDay = firstDayOfRows(days, now);
  return {
    id,
    days,
    sinceDay,
    sinceAt,
    rows: days.reduce((sum, { day, runs }) => sum + (day >= sinceDay ? runs : 0), 0),
  };
}

async function listRunsSince(db: Db, plans: readonly Plan[]): Promise<ReadonlyMap<number, readonly Run[]>> {
  const conditions = plans.map((plan) => ({
    sql: `cronjob_id = ? and ${isSuccess} and finished_at >= ?`,
    bindings: [plan.id, startOfDay(plan.sinceDay)],
    rows: plan.rows,
  }));
  const runs = new Map<number, Run[]>();
  await readAnyOf(db, conditions, (row) => {
    const id = Number(row['cronjob_id']);
    const ofOne = runs.get(id) ?? [];
    runs.set(id, ofOne);
    ofOne.push({
      createdAt: Number(row['created_at']),
      endedAt: Number(row['finished_at']),
      durationMs: Number(row['duration_ms']),
    });
  });
  for (const ofOne of runs.values()) ofOne.sort((a, b) => b.endedAt - a.endedAt);
  return runs;
}

interface Parts {
  readonly plan: Plan;
  readonly recent: readonly Run[];
  /** Read from rows and older than the recent ones. */
  readonly before: Sketch;
  readonly baselineDays: readonly Day[];
}

function splitRuns(plan: Plan, runs: readonly Run[], now: Instant, windowDays: number): Parts {
  const startAt = startOfDay(plan.sinceDay);
  const counted = runs.filter(({ endedAt }) => endedAt >= plan.sinceAt);
  const inLastDay = counted.filter(({ endedAt }) => endedAt > now - hoursRecent * 3_600_000).length;
  const recentCount = Math.max(fewestRecent, inLastDay);
  const recent = counted.slice(0, recentCount);
  const before = sketchOf(
    counted
      .slice(recentCount)
      .filter(({ createdAt }) => createdAt >= startAt)
      .map(({ durationMs }) => durationMs),
  );
  let count = sketchSize(before);
  const baselineDays: Day[] = [];
  for (const day of plan.days) {
    if (day.day >= plan.sinceDay) continue;
    if (day.day < plan.sinceDay - windowDays && count >= fewestBaseline) break;
    baselineDays.push(day);
    count += day.runs;
  }
  return { plan, recent, before, baselineDays };
}

/** Days of the baseline that have no sketch yet, such as yesterday just after midnight; by `id day`. */
async function sketchUnsealedDays(db: Db, parts: readonly Parts[]): Promise<ReadonlyMap<string, Sketch>> {
  const conditions = parts.flatMap(({ plan, baselineDays }) =>
    baselineDays
      .filter(({ sketch }) => sketch === undefined)
      .map(({ day, runs }) => ({
        sql: `cronjob_id = ? and ${isSuccess} and created_at >= ? and created_at < ? and finished_at >= ?`,
        bindings: [plan.id, startOfDay(day), startOfDay(day + 1), Math.max(0, plan.sinceAt)],
        rows: runs,
      })),
  );
  const byDay = new Map<string, number[]>();
  await readAnyOf(db, conditions, (row) => {
    const key = `${Number(row['cronjob_id'])} ${dayOf(Number(row['created_at']))}`;
    const ofDay = byDay.get(key) ?? [];
    byDay.set(key, ofDay);
    ofDay.push(Number(row['duration_ms']));
  });
  return new Map([...byDay].map(([key, durations]) => [key, sketchOf(durations)]));
}

function toShift({ plan, recent, before, baselineDays }: Parts, unsealed: ReadonlyMap<string, Sketch>): DurationShift {
  const sketches = baselineDays.flatMap(({ day, sketch }) =>
    sketch ? decodeSketch(sketch) : (unsealed.get(`${plan.id} ${day}`) ?? []),
  );
  // A recent run that was created before the rows begin is in the sketch of its day too.
  const twice = recent.filter(({ createdAt }) => baselineDays.some(({ day }) => day === dayOf(createdAt)));
  const baseline = withoutSketch(
    mergeSketches([before, ...sketches]),
    sketchOf(twice.map(({ durationMs }) => durationMs)),
  );
  const at = (p: number): number => sketchPercentile(baseline, p) ?? 0;
  return {
    recentMs: recent.map(({ durationMs }) => durationMs),
    newestEndAt: recent[0]?.endedAt,
    baseline: { runs: sketchSize(baseline), p25: at(0.25), p75: at(0.75), p95: at(0.95) },
  };
}

/** One condition on executions, on an index. */
interface RunCondition {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  /** About how many rows it finds. */
  readonly rows: number;
}

/** Reads the durations of counted scheduled runs that meet one of these conditions, in statements that stay bounded. */
async function readAnyOf(db: Db, conditions: readonly RunCondition[], take: (row: Row) => void): Promise<void> {
  for (const part of inBoundedParts(conditions)) {
    const select =
      `select cronjob_id, created_at, finished_at, duration_ms from executions where ${isScheduled} and ${isCounted} ` +
      `and duration_ms is not null and finished_at is not null and (${part.map(({ sql }) => `(${sql})`).join(' or ')})`;
    const bindings = part.flatMap((condition) => condition.bindings);
    for (const row of await rows(db, select, bindings)) take(row);
  }
}
