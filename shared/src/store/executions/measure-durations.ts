import { nearestRank, type Instant } from '../../domain/index.ts';
import { marks, rows, inParts, type Row } from '../ask.ts';
import type { Db } from '../database.ts';
import { inBoundedParts } from '../bounded-reads.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';

/** Durations of successful scheduled runs, milliseconds. Percentiles are nearest rank. */
export interface DurationFigures {
  readonly count: number;
  readonly avgMs: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
}

const ranks = [50, 95, 99] as const;

/** Whose durations are asked, and about how many runs of it are in the window: it bounds a statement. */
interface MeasuredCronJob {
  readonly cronJobId: number;
  readonly rows: number;
}

/** Which rows have a duration that counts, of CronJobs and a window that are bound. */
const measured = (cronJobs: string): string =>
  `from executions where cronjob_id in (${cronJobs}) and created_at >= ? and created_at < ? ` +
  `and status = ${statusWords.toNumber('success')} and "trigger" = ${triggerWords.toNumber('scheduled')} and duration_ms is not null ` +
  `and (flags & ${flagBits.inMaintenance}) = 0`;

/**
 * Undefined when no such run with a duration was created in [from, to). Of one CronJob the distinct durations are counted: for a long
 * history half the work of ranking its rows.
 */
export async function measureDurations(
  db: Db,
  cronJobId: number,
  window: { readonly from: Instant; readonly to: Instant },
): Promise<DurationFigures | undefined> {
  const found = await rows(
    db,
    `select duration_ms, count(*) as n ${measured('?')} group by duration_ms order by duration_ms`,
    [cronJobId, window.from, window.to],
  );
  const counts = found.map((row) => ({ ms: Number(row['duration_ms']), n: Number(row['n']) }));
  const count = counts.reduce((sum, { n }) => sum + n, 0);
  if (count === 0) return undefined;
  const total = counts.reduce((sum, { ms, n }) => sum + ms * n, 0);
  const at = (p: number): number => {
    let below = 0;
    return counts.find(({ n }) => 100 * (below += n) >= p * count)?.ms ?? NaN;
  };
  return { count, avgMs: total / count, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
}

/** The same of many, ranked by the database; a CronJob without such a run is absent. */
export async function measureDurationsOfEach(
  db: Db,
  cronJobs: readonly MeasuredCronJob[],
  window: { readonly from: Instant; readonly to: Instant },
): Promise<ReadonlyMap<number, DurationFigures>> {
  const figures = new Map<number, DurationFigures>();
  for (const part of inBoundedParts(cronJobs)) {
    const ids = part.map(({ cronJobId }) => cronJobId);
    for (const [id, ofOne] of Map.groupBy(await readRanks(db, ids, window), (row) => Number(row['cronjob_id'])))
      figures.set(id, toFigures(ofOne));
  }
  return figures;
}

/** The condition that finds the nearest rank of each of these percents, the first position that is not below p × n / 100, by `rank_no` and `n`. */
export function isRankOf(percents: readonly number[]): string {
  return percents.map((p) => `(100 * rank_no >= ${p} * n and 100 * (rank_no - 1) < ${p} * n)`).join(' or ');
}

/** The rows at the ranks asked for, rising. */
async function readRanks(
  db: Db,
  ids: readonly number[],
  window: { readonly from: Instant; readonly to: Instant },
): Promise<readonly Row[]> {
  const values =
    'select cronjob_id, duration_ms, row_number() over (partition by cronjob_id order by duration_ms) as rank_no, ' +
    `count(*) over (partition by cronjob_id) as n, sum(duration_ms) over (partition by cronjob_id) as total ${measured(marks(ids))}`;
  return rows(
    db,
    `select cronjob_id, duration_ms, rank_no, n, total from (${values}) v where ${isRankOf(ranks)} order by cronjob_id, rank_no`,
    [...ids, window.from, window.to],
  );
}

function toFigures(found: readonly Row[]): DurationFigures {
  const [first] = found;
  const count = Number(first?.['n']);
  const at = (p: number): number => {
    const row = found.find((candidate) => 100 * Number(candidate['rank_no']) >= p * count);
    return Number(row?.['duration_ms']);
  };
  return { count, avgMs: Number(first?.['total']) / count, p50Ms: at(50), p95Ms: at(95), p99Ms: at(99) };
}

/** Runs of each CronJob that are looked at. */
const mostRuns = 100;
const cronJobsPerStatement = 200;

/** How long a run of each CronJob usually takes: the median of its newest successful scheduled runs. Absent: no such run. */
export async function listMedianDurations(db: Db, cronJobIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  const medians = new Map<number, number>();
  const isCounted =
    `status = ${statusWords.toNumber('success')} and "trigger" = ${triggerWords.toNumber('scheduled')} ` +
    'and duration_ms is not null';
  for (const ids of inParts(cronJobIds, cronJobsPerStatement)) {
    // Each piece reads the end of one key range: no CronJob's whole history is touched.
    const pieces = ids.map(
      (_, index) =>
        `select * from (select cronjob_id, duration_ms from executions where cronjob_id = ? and ${isCounted} ` +
        `order by created_at desc limit ${mostRuns}) e${index}`,
    );
    const found = await rows(db, pieces.join(' union all '), ids);
    for (const [id, ofOne] of Map.groupBy(found, (row) => Number(row['cronjob_id']))) {
      const rising = ofOne.map((row) => Number(row['duration_ms'])).sort((a, b) => a - b);
      medians.set(id, nearestRank(rising, 0.5) ?? 0);
    }
  }
  return medians;
}
