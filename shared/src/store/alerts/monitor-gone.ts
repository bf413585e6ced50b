import type { Instant } from '../../domain/index.ts';
import { change, rows } from '../ask.ts';
import { recordDecisions } from '../alert-decisions.ts';
import { lockCronJobs } from '../catalog/cron-job-ids.ts';
import type { Tx } from '../database.ts';
import { moveAlertCounters } from './move-alert-counters.ts';

/** Kept on an active alert that owes a message, so that it still owes it when its monitor is there again. */
const owed = 'owed';

/** The monitor is gone: its active alerts are suppressed, and at `untilAt` all of them are looked at again. */
export async function suppressAlertsOf(tx: Tx, monitorId: number, untilAt: Instant): Promise<void> {
  const live = await lockAlertsOf(tx, monitorId);
  if (live.length === 0) return;
  await change(
    tx,
    // MySQL assigns from left to right: the mark comes before the instant that it is read from.
    "update alerts set state = 'suppressed', suppressed_by = 'monitorGone', " +
      'suppressed_ref = case when due_at is null then null else ? end, due_at = ? ' +
      "where monitor_id = ? and state = 'active'",
    [owed, untilAt, monitorId],
  );
  await change(tx, "update alerts set due_at = ? where monitor_id = ? and state in ('pending', 'suppressed')", [
    untilAt,
    monitorId,
  ]);
  await note(tx, live, { action: 'suppressed', untilAt });
}

/** The monitor is there again: what was active is active, as if nothing had been; all that waits is looked at now. */
export async function resumeAlertsOf(tx: Tx, monitorId: number): Promise<void> {
  const live = await lockAlertsOf(tx, monitorId);
  if (live.length === 0) return;
  await change(
    tx,
    "update alerts set state = 'active', suppressed_by = null, due_at = case when suppressed_ref = ? then ? else null end, " +
      "suppressed_ref = null where monitor_id = ? and state = 'suppressed' and suppressed_by = 'monitorGone'",
    [owed, tx.now(), monitorId],
  );
  await change(
    tx,
    "update alerts set due_at = ? where monitor_id = ? and due_at is not null and state in ('pending', 'suppressed')",
    [tx.now(), monitorId],
  );
  await note(tx, live, { action: 'released', untilAt: undefined });
}

interface LiveAlert {
  readonly id: string;
  readonly cronJobId: number;
}

async function lockAlertsOf(tx: Tx, monitorId: number): Promise<readonly LiveAlert[]> {
  const found = await rows(
    tx,
    "select id, cronjob_id from alerts where monitor_id = ? and state in ('pending', 'active', 'suppressed')",
    [monitorId],
  );
  const live = found.map((row) => ({ id: tx.dialect.id16Text(row['id']), cronJobId: Number(row['cronjob_id']) }));
  await lockCronJobs(tx, [...new Set(live.map(({ cronJobId }) => cronJobId))]);
  return live;
}

async function note(
  tx: Tx,
  live: readonly LiveAlert[],
  { action, untilAt }: { readonly action: 'suppressed' | 'released'; readonly untilAt: Instant | undefined },
): Promise<void> {
  await recordDecisions(
    tx,
    live.map(({ id, cronJobId }) => ({ alertId: id, cronJobId, action, reason: 'monitorGone', untilAt })),
  );
  await moveAlertCounters(
    tx,
    live.map(({ cronJobId }) => cronJobId),
  );
}
