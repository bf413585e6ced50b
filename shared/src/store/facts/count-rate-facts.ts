import { dayOf, type Instant, startOfDay } from '../../domain/index.ts';
import { inParts, marks, type Row, rows } from '../ask.ts';
import type { Db } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import { isCounted, isFailed, isScheduled, isSuccess, outcomeWords, statusWords } from '../words.ts';

export interface RateFacts {
  /** Scheduled runs by the creation of their Job; those left out of the SLA by a maintenance window are in neither. */
  readonly success: number;
  readonly failed: number;
  /** Expected runs that never started; 0 unless asked for. */
  readonly missed: number;
  /** Rows of the first day are pruned: the whole day was counted. */
  readonly approximate: boolean;
}

const counters = ['success', 'failed', 'missed'] as const;
type Counts = Record<(typeof counters)[number], number>;

/**
 * Scheduled runs of each CronJob since `from`, which is now minus the window. The first day is counted from rows, since only a part of it
 * lies in the window; every later day, today included, from the figures that move with each row (storage.md section 6). A CronJob with
 * nothing to count is absent. Two statements for 500 CronJobs, a third for `missed`.
 */
export async function countRateFacts(
  db: Db,
  cronJobIds: readonly number[],
  wanted: { readonly from: Instant; readonly missed: boolean },
): Promise<ReadonlyMap<number, RateFacts>> {
  const facts = new Map<number, RateFacts>();
  for (const ids of inParts(cronJobIds))
    for (const [id, counted] of await countPart(db, ids, wanted)) facts.set(id, counted);
  return facts;
}

/** Of each of these CronJobs the oldest run or slot since then: it is the next one that a window which begins there loses. */
export async function listOldestSince(
  db: Db,
  cronJobIds: readonly number[],
  from: Instant,
): Promise<ReadonlyMap<number, Instant>> {
  const oldest = (table: string, at: string): string =>
    `(select ${at} from ${table} where cronjob_id = c.id and ${at} >= ? order by ${at} limit 1)`;
  const found = await rowsIn(
    db,
    cronJobIds,
    (list) =>
      `select c.id, ${oldest('executions', 'created_at')} as run_at, ${oldest('slots', 'slot_at')} as slot_at ` +
      `from cronjobs c where c.id in (${list})`,
    [from, from],
  );
  const instants = found.map(
    (row) =>
      [Number(row['id']), Math.min(Number(row['run_at'] ?? Infinity), Number(row['slot_at'] ?? Infinity))] as const,
  );
  return new Map(instants.filter(([, at]) => at < Infinity));
}

async function countPart(
  db: Db,
  ids: readonly number[],
  { from, missed }: { readonly from: Instant; readonly missed: boolean },
): Promise<ReadonlyMap<number, RateFacts>> {
  const firstDay = dayOf(from);
  const isWhole = from === startOfDay(firstDay);
  const sums = counters.flatMap((counter) => [
    `sum(case when day > ${firstDay} then ${counter} else 0 end) as n_${counter}`,
    `sum(case when day = ${firstDay} then ${counter} else 0 end) as first_${counter}`,
  ]);
  const days = await rows(
    db,
    `select cronjob_id, ${sums.join(', ')} from rollups where cronjob_id in (${marks(ids)}) and day >= ? group by cronjob_id`,
    [...ids, firstDay],
  );
  const runs = isWhole ? new Map<number, Row>() : await countFirstDayRuns(db, ids, from);
  const slots = isWhole || !missed ? new Map<number, Row>() : await countFirstDaySlots(db, ids, from);

  const facts = new Map<number, RateFacts>();
  for (const row of days) {
    const id = Number(row['cronjob_id']);
    const later = countsOf(row, 'n');
    const whole = countsOf(row, 'first');
    const kept = runs.get(id);
    const keptSlots = slots.get(id);
    const areRunsPruned = !isWhole && Number(kept?.['n_all'] ?? 0) < whole.success + whole.failed;
    const areSlotsPruned = !isWhole && missed && Number(keptSlots?.['n_all'] ?? 0) < whole.missed;
    const inRuns = isWhole || areRunsPruned ? whole : countsOf(kept ?? {}, 'n');
    const inSlots = isWhole || areSlotsPruned ? whole : countsOf(keptSlots ?? {}, 'n');
    const counted = {
      success: later.success + inRuns.success,
      failed: later.failed + inRuns.failed,
      missed: missed ? later.missed + inSlots.missed : 0,
    };
    if (counted.success + counted.failed + counted.missed === 0) continue;
    facts.set(id, { ...counted, approximate: areRunsPruned || areSlotsPruned });
  }
  return facts;
}

/** Runs of the first day: those in the window, and all, by which it is seen whether the day is still complete. */
async function countFirstDayRuns(db: Db, ids: readonly number[], from: Instant): Promise<ReadonlyMap<number, Row>> {
  const [start, end] = spanOfDay(from);
  const found = await rows(
    db,
    `select cronjob_id, count(*) as n_all, sum(case when ${isSuccess} and created_at >= ? then 1 else 0 end) as n_success, ` +
      `sum(case when ${isFailed} and created_at >= ? then 1 else 0 end) as n_failed from executions ` +
      `where cronjob_id in (${marks(ids)}) and created_at >= ? and created_at < ? and (${isSuccess} or ${isFailed}) ` +
      `and ${isScheduled} and ${isCounted} group by cronjob_id`,
    [from, from, ...ids, start, end],
  );
  return byCronJob(found);
}

async function countFirstDaySlots(db: Db, ids: readonly number[], from: Instant): Promise<ReadonlyMap<number, Row>> {
  const [start, end] = spanOfDay(from);
  const found = await rows(
    db,
    'select cronjob_id, count(*) as n_all, sum(case when slot_at >= ? then 1 else 0 end) as n_missed from slots ' +
      `where cronjob_id in (${marks(ids)}) and slot_at >= ? and slot_at < ? and outcome = ${outcomeWords.toNumber('missed')} ` +
      'group by cronjob_id',
    [from, ...ids, start, end],
  );
  return byCronJob(found);
}

function spanOfDay(at: Instant): [Instant, Instant] {
  const day = dayOf(at);
  return [startOfDay(day), startOfDay(day + 1)];
}

function byCronJob(found: readonly Row[]): ReadonlyMap<number, Row> {
  return new Map(found.map((row) => [Number(row['cronjob_id']), row]));
}

function countsOf(row: Row, prefix: 'n' | 'first'): Counts {
  const at = (counter: keyof Counts): number => Number(row[`${prefix}_${counter}`] ?? 0);
  return { success: at('success'), failed: at('failed'), missed: at('missed') };
}

/** Of which CronJob failures are counted, and from which end on. */
interface FailuresSince {
  readonly cronJobId: number;
  readonly sinceAt: Instant;
}

interface Unsuccessful {
  readonly failed: number;
  /** Replaced or deleted before their end. */
  readonly stopped: number;
}

/**
 * How many runs of each of these did not succeed since; none for what was not asked. Each piece reads one index range: few CronJobs are
 * asked.
 */
export async function countFailures(
  db: Db,
  asked: readonly FailuresSince[],
): Promise<(of: FailuresSince) => Unsuccessful> {
  const counts = new Map<string, Unsuccessful>();
  const stopped = [statusWords.toNumber('replaced'), statusWords.toNumber('deleted')].join(', ');
  for (const part of inParts(asked, 100)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as piece, sum(case when ${isFailed} then 1 else 0 end) as n_failed, ` +
        `sum(case when status in (${stopped}) then 1 else 0 end) as n_stopped ` +
        'from executions where cronjob_id = ? and status <> 0 and finished_at >= ?',
    );
    const bindings = part.flatMap(({ cronJobId, sinceAt }) => [cronJobId, sinceAt]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const of = part[Number(row['piece'])];
      if (of) counts.set(keyOf(of), { failed: Number(row['n_failed']), stopped: Number(row['n_stopped']) });
    }
  }
  return (of) => counts.get(keyOf(of)) ?? { failed: 0, stopped: 0 };
}

const keyOf = ({ cronJobId, sinceAt }: FailuresSince): string => `${cronJobId} ${sinceAt}`;
