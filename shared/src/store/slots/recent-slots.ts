import type { SlotCause } from '../../contract/index.ts';
import { type Instant, type JudgedSlot, lateAfterMs } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import { optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { mostClockLeadMs } from '../executions/recorded-jobs.ts';
import { causeWords, outcomeWords, unmetOutcomes } from '../words.ts';
import { findClusterState } from '../cluster-state.ts';

interface RecentSlot extends JudgedSlot {
  readonly cause: SlotCause | undefined;
  /** What the cluster said of a Job that it did not create. */
  readonly message?: string | undefined;
}

/** CronJobs of one statement: each is three pieces of it. */
const cronJobsPerStatement = 64;

/**
 * Of each CronJob the newest `count` expected runs that were started, missed or skipped, newest first; one that goes on was started too.
 * CronJobs without any are missing.
 */
export async function listRecentSlots(
  db: Db,
  cronJobIds: readonly number[],
  count: number,
): Promise<ReadonlyMap<number, RecentSlot[]>> {
  const lateAfter = lateAfterMs(await findStartSkew(db));
  const found = new Map<number, Map<Instant, RecentSlot>>();
  for (const ids of inParts(cronJobIds, cronJobsPerStatement, -1)) {
    const born = await earliestCreations(db, ids, count);
    // Each piece reads the end of one key range. What a piece does not have is -1: a bare null has no type that the others share.
    const pieces = ids.flatMap((_, index) => [
      `select * from (select cronjob_id, slot_at as at_ms, outcome, coalesce(cause, -1) as cause, slot_at as created_at, coalesce(message, '') as message from slots ` +
        `where cronjob_id = ? and outcome in (${unmetOutcomes.join(', ')}) order by slot_at desc limit ?) s${index}`,
      `select * from (select cronjob_id, scheduled_at as at_ms, -1 as outcome, -1 as cause, created_at, '' as message from executions ` +
        `where cronjob_id = ? and created_at >= ? and scheduled_at > 0 order by scheduled_at desc limit ?) e${index}`,
      `select * from (select cronjob_id, scheduled_at as at_ms, -1 as outcome, -1 as cause, created_at, '' as message from active_jobs ` +
        `where cronjob_id = ? and scheduled_at > 0 order by scheduled_at desc limit ?) a${index}`,
    ]);
    const bindings = ids.flatMap((id) => [id, count, id, born.get(id) ?? 0, count, id, count]);
    for (const row of await rows(db, pieces.join(' union all '), bindings)) {
      const id = Number(row['cronjob_id']);
      const at = Number(row['at_ms']);
      const slots = found.get(id) ?? new Map<Instant, RecentSlot>();
      found.set(id, slots);
      const outcome = Number(row['outcome']);
      if (outcome === -1) {
        const startedAt = Number(row['created_at']);
        const isLate = startedAt - at > lateAfter;
        slots.set(at, { at, outcome: isLate ? 'late' : 'matched', cause: undefined, startedAt });
      } else if (!slots.has(at)) {
        slots.set(at, {
          at,
          outcome: toJudged(outcome),
          cause: toCause(Number(row['cause'])),
          message: optionalText(row['message'] || null),
        });
      }
    }
  }
  return new Map(
    [...found].map(([id, slots]) => [id, [...slots.values()].sort((a, b) => b.at - a.at).slice(0, count)]),
  );
}

/**
 * No run of the newest `count` slots was created earlier. Mostly the runs created last have them; one that was run again has an old slot
 * and a new Job.
 */
async function earliestCreations(db: Db, ids: readonly number[], count: number): Promise<ReadonlyMap<number, Instant>> {
  const pieces = ids.map(
    (_, index) =>
      'select * from (select cronjob_id, scheduled_at from executions ' +
      `where cronjob_id = ? and scheduled_at > 0 order by created_at desc limit ?) e${index}`,
  );
  const found = await rows(
    db,
    `select cronjob_id, min(scheduled_at) as slot_at from (${pieces.join(' union all ')}) e group by cronjob_id`,
    ids.flatMap((id) => [id, count]),
  );
  return new Map(found.map((row) => [Number(row['cronjob_id']), Number(row['slot_at']) - mostClockLeadMs]));
}

function toJudged(outcome: number): JudgedSlot['outcome'] {
  const word = outcomeWords.toWord(outcome);
  if (word === 'missed' || word === 'skippedForbid' || word === 'skippedDeadline') return word;
  throw new RangeError(`${word} was not asked for`);
}

function toCause(cause: number): SlotCause | undefined {
  return cause === -1 ? undefined : causeWords.toWord(cause);
}

/**
 * How late the cluster starts its Jobs: the 99th percentile of the last hour as saved last, milliseconds; 0 when nothing was saved. Three
 * times as much is still in time.
 */
export async function findStartSkew(db: Db): Promise<number> {
  const saved = await findClusterState(db, 'startSkew');
  if (typeof saved !== 'object' || saved === null || !('p99Ms' in saved)) return 0;
  const { p99Ms } = saved;
  return typeof p99Ms === 'number' && p99Ms >= 0 ? p99Ms : 0;
}
