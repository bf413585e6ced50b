import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { mostClockLeadMs } from '../executions/born-for-slot.ts';
import { outcomeWords, statusWords } from '../words.ts';
import { isSuccess } from './run-conditions.ts';

/** Runs of one CronJob that were due in (afterAt, untilAt]. */
export interface SlotInterval {
  readonly cronJobId: number;
  readonly afterAt: Instant;
  readonly untilAt: Instant;
}

const isSeen = `status <> ${statusWords.toNumber('unobserved')}`;
const unmet = (['missed', 'skippedForbid', 'skippedDeadline'] as const).map((word) => outcomeWords.toNumber(word));

/**
 * Of the runs that were due in each interval, in the order of the intervals: when the first success ended, undefined without any, and of
 * how many slots it is known what became of them.
 */
export async function listDueRuns(
  db: Db,
  intervals: readonly SlotInterval[],
): Promise<readonly { readonly firstSuccessAt: Instant | undefined; readonly known: number }[]> {
  const ends: { firstSuccessAt: Instant | undefined; known: number }[] = [];
  for (const part of inParts(intervals, 125)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as position_no, min(case when ${isSuccess} then finished_at end) as first_end, ` +
        `count(distinct case when ${isSeen} then scheduled_at end) + (select count(*) from slots where cronjob_id = ? ` +
        `and slot_at > ? and slot_at <= ? and outcome in (${unmet.join(', ')})) as known from executions ` +
        `where cronjob_id = ? and created_at > ? and scheduled_at > ? and scheduled_at <= ?`,
    );
    const found = await rows(
      db,
      pieces.join(' union all '),
      part.flatMap(({ cronJobId: id, afterAt: after, untilAt: until }) => {
        return [id, after, until, id, after - mostClockLeadMs, after, until];
      }),
    );
    const byPosition = new Map(found.map((row) => [Number(row['position_no']), row]));
    const answers = part.map((_, index) => byPosition.get(index) ?? {});
    ends.push(
      ...answers.map((row) => ({ firstSuccessAt: optionalNumber(row['first_end']), known: Number(row['known']) })),
    );
  }
  return ends;
}
