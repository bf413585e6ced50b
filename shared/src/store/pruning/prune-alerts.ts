import type { Instant } from '../../domain/index.ts';
import { change, marks, rows } from '../ask.ts';
import type { Tx } from '../database.ts';
import type { Batches } from './batches.ts';

/** States of a message that is still on its way: never pruned, nor its alert. */
export const openDeliveryStates = `('ready', 'claimed', 'parked')`;

export interface RemovedAlerts {
  readonly alerts: number;
  readonly deliveries: number;
  readonly decisions: number;
}

/**
 * Removes alerts that ended before `before`, with their messages, decisions, acknowledgement and texts; of one CronJob when it is given.
 * A live alert stays, and one that still has a message on its way.
 */
export async function pruneAlerts(batches: Batches, before: Instant, cronJobId?: number): Promise<RemovedAlerts> {
  const removed = { alerts: 0, deliveries: 0, decisions: 0 };
  const ofCronJob = cronJobId === undefined ? '' : ' and cronjob_id = ?';
  await batches.repeat(
    async (tx, limit) => {
      const found = await rows(
        tx,
        `select id from alerts where ended_at < ?${ofCronJob} and not exists (select 1 from deliveries d
           where d.alert_id = alerts.id and d.state in ${openDeliveryStates}) order by ended_at limit ${limit}`,
        cronJobId === undefined ? [before] : [before, cronJobId],
      );
      const ids = found.map((row) => row['id']);
      if (ids.length > 0) await deleteBatch(tx, ids, removed);
      return ids.length;
    },
    { most: 200 },
  );
  return removed;
}

async function deleteBatch(
  tx: Tx,
  ids: readonly unknown[],
  removed: { alerts: number; deliveries: number; decisions: number },
): Promise<void> {
  const list = marks(ids);
  removed.deliveries += await change(tx, `delete from deliveries where alert_id in (${list})`, ids);
  removed.decisions += await change(tx, `delete from alert_decisions where alert_id in (${list})`, ids);
  await change(tx, `delete from acknowledgements where alert_id in (${list})`, ids);
  await change(tx, `delete from evidence where owner in (${list})`, ids);
  removed.alerts += await change(tx, `delete from alerts where id in (${list})`, ids);
}
