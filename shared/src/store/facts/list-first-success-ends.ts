import type { Instant } from '../../domain/index.ts';
import { inParts, rows } from '../ask.ts';
import { optionalNumber } from '../column.ts';
import type { Db } from '../database.ts';
import { mostClockLeadMs } from '../executions/born-for-slot.ts';
import { isSuccess } from './run-conditions.ts';

/** Runs of one CronJob that were due in (afterAt, untilAt]. */
export interface SlotInterval {
  readonly cronJobId: number;
  readonly afterAt: Instant;
  readonly untilAt: Instant;
}

/** When the first success of a run due in each interval ended; the answers stand in the order of the intervals, undefined without any. */
export async function listFirstSuccessEnds(
  db: Db,
  intervals: readonly SlotInterval[],
): Promise<readonly (Instant | undefined)[]> {
  const ends: (Instant | undefined)[] = [];
  for (const part of inParts(intervals, 250)) {
    const pieces = part.map(
      (_, index) =>
        `select ${index} as position_no, min(finished_at) as first_end from executions ` +
        `where cronjob_id = ? and created_at > ? and scheduled_at > ? and scheduled_at <= ? and ${isSuccess}`,
    );
    const found = await rows(
      db,
      pieces.join(' union all '),
      part.flatMap(({ cronJobId, afterAt, untilAt }) => [cronJobId, afterAt - mostClockLeadMs, afterAt, untilAt]),
    );
    const byPosition = new Map(
      found.map((row) => [Number(row['position_no']), optionalNumber(row['first_end'])] as const),
    );
    ends.push(...part.map((_, index) => byPosition.get(index)));
  }
  return ends;
}
