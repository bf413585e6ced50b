import {
  dayOf,
  startOfDay,
  type Instant,
  countedDurationMs,
  counterOf,
  encodeSketch,
  sketchOf,
  type RunCounter,
  type RunCounts,
} from '../../domain/index.ts';
import { insertRows, marks, rows, type Row } from '../ask.ts';
import { cronJobChanges } from '../catalog/cron-job-change.ts';
import { recordChanges } from '../changes.ts';
import { findClusterState, putClusterState } from '../cluster-state.ts';
import { optionalNumber } from '../column.ts';
import type { Store, Tx } from '../database.ts';
import { rowsIn, updateAll } from '../upsert.ts';
import { flagBits, statusWords, triggerWords } from '../words.ts';
import { counters } from '../rollups.ts';

/** What one pass did with the daily figures. */
export interface SealedRollups {
  /** Days that were over and had no sketch: they have one now. */
  readonly sealed: number;
  /** Days computed again because a row of theirs was late, replaced or deleted. */
  readonly recomputed: number;
  /** Sealed days computed again only to see whether they are right. */
  readonly compared: number;
  /** Those that were not: marked, so that the next pass computes them again. Each is an error to look at. */
  readonly different: readonly { readonly cronJobId: number; readonly day: number }[];
  /** False when time ran out: the next pass goes on. */
  readonly completed: boolean;
}

/** Rows of executions that one transaction may read, and days that it may hold. */
const rowsAtOnce = 5_000;
const daysAtOnce = 100;
/** Days of the whole fleet that one statement looks through. */
const daysLookedThrough = 10;
/** One in so many sealed days is compared with its rows each night. */
const comparedEach = 100;

/**
 * Computes the days that changed again, and gives every UTC day that is over its sketch (storage.md section 6). Days are computed from
 * rows under the lock of their CronJobs, so that no recording comes between. A day whose rows are pruned keeps its counts. Once for
 * each new day all days are looked through, and one in a hundred is compared with its rows.
 */
export async function sealRollups(
  store: Store,
  epoch: number,
  now: Instant,
  limits: { readonly budgetMs: number },
): Promise<SealedRollups> {
  const pass = new SealingPass(store, epoch, now, limits.budgetMs);
  const dirty = await rows(
    store,
    `select ${daySelection} from rollups where dirty = 1 order by day, cronjob_id limit 20000`,
  );
  await pass.compute(dirty.map(toStoredDay));
  await lookThrough(store, pass);
  return pass.result();
}

/** Finds what is not sealed: from the last day looked through on, so that an ordinary pass asks next to nothing. */
async function lookThrough(store: Store, pass: SealingPass): Promise<void> {
  const yesterday = pass.today - 1;
  const doneThrough = await findClusterState(store, 'rollupsSealedThrough');
  if (pass.outOfTime || (typeof doneThrough === 'number' && doneThrough >= yesterday)) return;
  const [oldest] = await rows(store, 'select min(day) as n from rollups where dirty = 0');
  const oldestDay = optionalNumber(oldest?.['n']) ?? pass.today;
  for (let last = yesterday; last >= oldestDay; last -= daysLookedThrough) {
    const found = await rows(
      store,
      `select ${daySelection} from rollups where dirty = 0 and day between ? and ? ` +
        `and (sealed_at is null or (cronjob_id + day) % ${comparedEach} = ?) order by day, cronjob_id`,
      [Math.max(oldestDay, last - daysLookedThrough + 1), last, pass.today % comparedEach],
    );
    await pass.compute(found.map(toStoredDay));
    if (pass.outOfTime) return;
  }
  await store.fenced(pass.epoch, (tx) => putClusterState(tx, 'rollupsSealedThrough', yesterday));
}

/** One pass over days, each batch of it a fenced transaction, until its time is over. */
class SealingPass {
  readonly epoch: number;
  readonly today: number;
  readonly #store: Store;
  readonly #now: Instant;
  readonly #deadlineMs: number;
  #sealed = 0;
  #recomputed = 0;
  #compared = 0;
  readonly #different: { cronJobId: number; day: number }[] = [];
  #outOfTime = false;

  constructor(store: Store, epoch: number, now: Instant, budgetMs: number) {
    this.#store = store;
    this.epoch = epoch;
    this.today = dayOf(now);
    this.#now = now;
    this.#deadlineMs = store.clock.monotonicMs() + budgetMs;
  }

  get outOfTime(): boolean {
    return this.#outOfTime;
  }

  result(): SealedRollups {
    return {
      sealed: this.#sealed,
      recomputed: this.#recomputed,
      compared: this.#compared,
      different: this.#different,
      completed: !this.#outOfTime,
    };
  }

  async compute(days: readonly StoredDay[]): Promise<void> {
    for (const [day, ofDay] of Map.groupBy(days, (stored) => stored.day)) {
      for (const batch of inBatches(ofDay)) {
        if (this.#store.clock.monotonicMs() > this.#deadlineMs) {
          this.#outOfTime = true;
          return;
        }
        const done = await this.#store.fenced(this.epoch, (tx) => this.#computeBatch(tx, day, batch));
        this.#sealed += done.filter((what) => what === 'sealed').length;
        this.#recomputed += done.filter((what) => what === 'recomputed').length;
        this.#compared += done.filter((what) => what === 'compared' || what === 'different').length;
        batch.forEach(({ cronJobId }, index) => {
          if (done[index] === 'different') this.#different.push({ cronJobId, day });
        });
      }
    }
  }

  /** Repeatable: the days are read again under the lock. Answers in the order of the batch. */
  async #computeBatch(
    tx: Tx,
    day: number,
    batch: readonly StoredDay[],
  ): Promise<('sealed' | 'recomputed' | 'compared' | 'different' | 'gone')[]> {
    const ids = batch.map(({ cronJobId }) => cronJobId).sort((a, b) => a - b);
    const owners = await rowsIn(
      tx,
      ids,
      (list) => `select id, baseline_at from cronjobs where id in (${list}) order by id${tx.dialect.lock.update}`,
    );
    const baselines = new Map(owners.map((row) => [Number(row['id']), optionalNumber(row['baseline_at'])]));
    const present = await rows(
      tx,
      `select ${daySelection} from rollups where day = ? and cronjob_id in (${marks(ids)})`,
      [day, ...ids],
    );
    const stored = new Map(present.map((row) => [Number(row['cronjob_id']), toStoredDay(row)]));
    const runs = await listRunsOfDay(tx, day, ids);

    const changed: unknown[][] = [];
    const corrected: number[] = [];
    const done = batch.map(({ cronJobId }) => {
      const before = stored.get(cronJobId);
      if (before === undefined) return 'gone';
      const ofDay = runs.get(cronJobId) ?? [];
      const counted = figuresOf(ofDay);
      const isSame = sameFigures(before, counted);
      const isOver = day < this.today;
      if (before.isSealed && !before.isDirty) {
        if (isSame || !isComplete(day, baselines.get(cronJobId))) return 'compared';
        changed.push(toDayRow(before, { figures: before, sketch: before.sketch, sealedAt: this.#now, isDirty: true }));
        return 'different';
      }
      // Rows that are pruned are missing in the recount: then the figures are all that is known of the day.
      const isTrusted = isSame || isComplete(day, baselines.get(cronJobId));
      if (isTrusted && !isSame) corrected.push(cronJobId);
      const sketch = isTrusted || before.sketch === undefined ? sketchOfRuns(ofDay) : before.sketch;
      changed.push(
        toDayRow(before, {
          figures: isTrusted ? counted : before,
          sketch: isOver ? sketch : undefined,
          sealedAt: isOver ? this.#now : undefined,
          isDirty: false,
        }),
      );
      return before.isDirty ? 'recomputed' : 'sealed';
    });
    await insertRows(tx, {
      table: 'rollups',
      columns: [...dayKey, ...writtenColumns],
      rows: changed,
      tail: updateAll(tx.dialect, dayKey, writtenColumns),
    });
    await recordChanges(tx, await cronJobChanges(tx, corrected, [], { recount: true }));
    return done;
  }
}

/** No row of the day can have been pruned. */
function isComplete(day: number, baselineAt: Instant | undefined): boolean {
  return baselineAt === undefined || baselineAt <= startOfDay(day);
}

/** Parts that one transaction may take, by the rows that the figures announce. */
function* inBatches(days: readonly StoredDay[]): Generator<readonly StoredDay[]> {
  let batch: StoredDay[] = [];
  let expected = 0;
  for (const stored of days) {
    const runs = counters.reduce((sum, counter) => sum + stored.counts[counter], 0);
    if (batch.length > 0 && (batch.length === daysAtOnce || expected + runs > rowsAtOnce)) {
      yield batch;
      batch = [];
      expected = 0;
    }
    batch.push(stored);
    expected += runs;
  }
  if (batch.length > 0) yield batch;
}

type CountedRun = Parameters<typeof counterOf>[0] & Parameters<typeof countedDurationMs>[0];

/** The runs of one day that are kept, by CronJob. */
async function listRunsOfDay(
  tx: Tx,
  day: number,
  cronJobIds: readonly number[],
): Promise<ReadonlyMap<number, readonly CountedRun[]>> {
  const found = await rows(
    tx,
    `select cronjob_id, status, "trigger", flags, duration_ms from executions
     where cronjob_id in (${marks(cronJobIds)}) and created_at >= ? and created_at < ?`,
    [...cronJobIds, startOfDay(day), startOfDay(day + 1)],
  );
  const runs = new Map<number, CountedRun[]>();
  for (const row of found) {
    const id = Number(row['cronjob_id']);
    const list = runs.get(id) ?? [];
    runs.set(id, list);
    list.push({
      status: statusWords.toWord(row['status']),
      trigger: triggerWords.toWord(row['trigger']),
      inMaintenance: (Number(row['flags']) & flagBits.inMaintenance) !== 0,
      durationMs: optionalNumber(row['duration_ms']),
    });
  }
  return runs;
}

/** The figures of a day, computed from its runs. */
function figuresOf(runs: readonly CountedRun[]): Figures {
  const counts: Record<RunCounter, number> = {
    success: 0,
    failed: 0,
    replaced: 0,
    deleted: 0,
    unobserved: 0,
    manual: 0,
  };
  let [durationN, durationSum] = [0, 0];
  let [durationMin, durationMax]: (number | undefined)[] = [];
  for (const run of runs) {
    const counter = counterOf(run);
    if (counter !== undefined) counts[counter]++;
    const durationMs = countedDurationMs(run);
    if (durationMs === undefined) continue;
    durationN++;
    durationSum += durationMs;
    durationMin = Math.min(durationMin ?? durationMs, durationMs);
    durationMax = Math.max(durationMax ?? durationMs, durationMs);
  }
  return { counts, durationN, durationSum, durationMin, durationMax };
}

function sameFigures(a: Figures, b: Figures): boolean {
  return (
    counters.every((counter) => a.counts[counter] === b.counts[counter]) &&
    a.durationN === b.durationN &&
    a.durationSum === b.durationSum &&
    a.durationMin === b.durationMin &&
    a.durationMax === b.durationMax
  );
}

/** Undefined for a day without a duration. */
function sketchOfRuns(runs: readonly CountedRun[]): Uint8Array | undefined {
  const durations = runs.flatMap((run) => countedDurationMs(run) ?? []);
  return durations.length === 0 ? undefined : encodeSketch(sketchOf(durations));
}

/** One CronJob's day, as the figures have it. */
interface StoredDay {
  readonly cronJobId: number;
  readonly day: number;
  readonly counts: RunCounts;
  readonly durationN: number;
  readonly durationSum: number;
  readonly durationMin: number | undefined;
  readonly durationMax: number | undefined;
  readonly sketch: Uint8Array | undefined;
  readonly isSealed: boolean;
  readonly isDirty: boolean;
}

type Figures = Pick<StoredDay, 'counts' | 'durationN' | 'durationSum' | 'durationMin' | 'durationMax'>;

const dayKey = ['cronjob_id', 'day'] as const;
/** The columns that a recount writes, in the order of toDayRow. */
const writtenColumns = [
  ...counters,
  'duration_n',
  'duration_sum',
  'duration_min',
  'duration_max',
  'sketch',
  'sealed_at',
  'dirty',
] as const;
const daySelection = [...dayKey, ...writtenColumns].map((column) => `"${column}"`).join(', ');

function toStoredDay(row: Row): StoredDay {
  const sketch = row['sketch'];
  const at = (counter: RunCounter): number => Number(row[counter]);
  return {
    cronJobId: Number(row['cronjob_id']),
    day: Number(row['day']),
    counts: {
      success: at('success'),
      failed: at('failed'),
      replaced: at('replaced'),
      deleted: at('deleted'),
      unobserved: at('unobserved'),
      manual: at('manual'),
    },
    durationN: Number(row['duration_n']),
    durationSum: Number(row['duration_sum']),
    durationMin: optionalNumber(row['duration_min']),
    durationMax: optionalNumber(row['duration_max']),
    sketch: sketch instanceof Uint8Array ? sketch : undefined,
    isSealed: row['sealed_at'] !== null,
    isDirty: Number(row['dirty']) === 1,
  };
}

/** The values of a row, in the order of its key and `writtenColumns`. */
function toDayRow(
  { cronJobId, day }: StoredDay,
  now: {
    readonly figures: Figures;
    readonly sketch: Uint8Array | undefined;
    readonly sealedAt: Instant | undefined;
    readonly isDirty: boolean;
  },
): unknown[] {
  const { figures, sketch, sealedAt, isDirty } = now;
  return [
    cronJobId,
    day,
    ...counters.map((counter) => figures.counts[counter]),
    figures.durationN,
    figures.durationSum,
    figures.durationMin,
    figures.durationMax,
    sketch === undefined ? null : Buffer.from(sketch),
    sealedAt,
    Number(isDirty),
  ];
}
