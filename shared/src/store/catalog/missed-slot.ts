import type { Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { fromJson, optionalNumber } from '../column.ts';
import type { LastRun } from './run-columns.ts';

/**
 * The newest judged slot of a row of `cronjobs`, if it is missed: one that was started after it has its outcome as well, whether its run has
 * ended or not.
 */
export function missedSlotOf(row: Row): Instant | undefined {
  const missedAt = optionalNumber(row['missed_slot_at']);
  if (missedAt === undefined) return undefined;
  const lastRun = fromJson(row['last_run']) as LastRun | undefined;
  const startedAt = Math.max(optionalNumber(row['last_schedule_at']) ?? -Infinity, lastRun?.scheduledAt ?? -Infinity);
  return startedAt >= missedAt ? undefined : missedAt;
}
