import type { AlertSubject, AlertType, Severity } from '../../contract/index.ts';
import { joinsStorms, type Fault, type Instant } from '../../domain/index.ts';
import { change, marks, rows, type Row } from '../ask.ts';
import { optionalText } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { toFault } from '../fault-columns.ts';
import { toId16 } from '../id16.ts';

/** An active alert of a type that joins storms. */
export interface StormAlert {
  readonly id: string;
  readonly cronJobId: number;
  readonly monitorId: number;
  readonly namespace: string;
  readonly cronJobName: string;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  /** On whose side it is; undefined: nothing tells. */
  readonly fault: Fault | undefined;
  readonly sinceAt: Instant;
  readonly notifyNo: number;
}

const selected =
  'select id, cronjob_id, monitor_id, namespace, cronjob_name, type, subject, severity, cause, scope, since_at, notify_no from alerts ' +
  "where state = 'active'";

/** What became active since `sinceAt` and joins storms, told or not. */
export async function listStormEntries(db: Db, sinceAt: Instant): Promise<StormAlert[]> {
  const found = await rows(
    db,
    `${selected} and activated_at >= ? and type in ('missedSchedule', 'deadManTriggered', 'jobStuck', 'absent')`,
    [sinceAt],
  );
  return found.map((row) => toStormAlert(db, row)).filter(({ type, subject }) => joinsStorms(type, subject));
}

/** What a storm holds and still is active. */
export async function listStormChildren(db: Db, stormId: string): Promise<StormAlert[]> {
  const found = await rows(db, `${selected} and storm_id = ?`, [db.dialect.id16(toId16(stormId))]);
  return found.map((row) => toStormAlert(db, row));
}

/** These alerts belong to the storm from now on. */
export async function updateStormOf(tx: Tx, alertIds: readonly string[], stormId: string): Promise<void> {
  if (alertIds.length === 0) return;
  const ids = alertIds.map((id) => tx.dialect.id16(toId16(id)));
  const storm = tx.dialect.id16(toId16(stormId));
  await change(tx, `update alerts set storm_id = ? where id in (${marks(ids)})`, [storm, ...ids]);
}

/** These alerts were told in a digest of their storm: no message of their own is owed. */
export async function updateToldInStorm(tx: Tx, alertIds: readonly string[]): Promise<void> {
  if (alertIds.length === 0) return;
  const ids = alertIds.map((id) => tx.dialect.id16(toId16(id)));
  await change(tx, `update alerts set due_at = null, notify_no = notify_no + 1 where id in (${marks(ids)})`, ids);
}

function toStormAlert(db: Db, row: Row): StormAlert {
  return {
    id: db.dialect.id16Text(row['id']),
    cronJobId: Number(row['cronjob_id']),
    monitorId: Number(row['monitor_id']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    fault: toFault(row),
    sinceAt: Number(row['since_at']),
    notifyNo: Number(row['notify_no']),
  };
}
