import { marks, rows } from '../ask.ts';
import type { Db } from '../database.ts';

/** Alerts in state active by the id of the monitor that raised them; one without any is absent. Of CronJobs in these namespaces, or in all. */
export async function countAlertsOfMonitors(
  db: Db,
  namespaces: readonly string[] = [],
): Promise<ReadonlyMap<number, number>> {
  const within = namespaces.length > 0 ? ` and namespace in (${marks(namespaces)})` : '';
  const found = await rows(
    db,
    `select monitor_id, count(*) as n from alerts where state = 'active'${within} group by monitor_id`,
    namespaces,
  );
  return new Map(found.map((row) => [Number(row['monitor_id']), Number(row['n'])]));
}
