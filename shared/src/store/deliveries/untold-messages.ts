import type { AlertSubject, AlertType, Ref, Severity } from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { change, marks, rows, type Row } from '../ask.ts';
import { optionalText } from '../column.ts';
import type { Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';

/** More are looked at with the next claim; a claim takes fewer. */
const mostAtOnce = 500;

/** The first message of an active alert: it waits, and nothing of it has left. */
export interface UntoldMessage {
  readonly id: string;
  readonly createdAt: Instant;
  readonly alertId: string;
  readonly cronJobId: number;
  readonly cronJob: Ref;
  readonly monitor: Ref;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly activatedAt: Instant;
  /** The message is about an older event, so alerts of its parents may come as late. */
  readonly isDelayed: boolean;
}

const untold =
  'select d.id, d.created_at, d.alert_id, a.cronjob_id, a.namespace, a.cronjob_name, a.type, a.subject, a.severity, a.activated_at, a.delayed, ' +
  'm.namespace as monitor_namespace, m.name as monitor_name ' +
  'from deliveries d join alerts a on a.id = d.alert_id join cronjobs c on c.id = a.cronjob_id left join monitors m on m.id = a.monitor_id ' +
  "where d.state = 'ready' and d.maybe_sent = 0 and d.kind in ('firing', 'flapping') " +
  "and a.state = 'active' and (a.last_notified_at is null or a.last_notified_at < d.created_at)";

/** Those about CronJobs that wait for others which a claim would take now. Their alerts are locked. */
export async function lockDependentMessages(tx: Tx): Promise<UntoldMessage[]> {
  const dependent = 'd.priority <= 2 and d.next_at <= ? and d.attempts = 0 and c.depends_on is not null';
  const ask = (only: string): string =>
    `${untold} and ${dependent} ${only} order by d.created_at, d.id limit ${mostAtOnce}`;
  return lockUntold(tx, { ask, values: [tx.now()], isWanted: () => true });
}

/** Those of `isWanted` that wait, whatever for, but for a channel that hears later than others. Their alerts are locked. */
export async function lockWaitingMessages(
  tx: Tx,
  isWanted: (message: UntoldMessage) => boolean,
): Promise<UntoldMessage[]> {
  const ask = (only: string): string =>
    `${untold} and coalesce(d.state_reason, '') <> 'after' ${only} order by d.created_at, d.id`;
  return lockUntold(tx, { ask, values: [], isWanted });
}

async function lockUntold(
  tx: Tx,
  of: {
    readonly ask: (only: string) => string;
    readonly values: readonly Instant[];
    readonly isWanted: (message: UntoldMessage) => boolean;
  },
): Promise<UntoldMessage[]> {
  const waiting = (await rows(tx, of.ask(''), of.values)).map((row) => toUntoldMessage(tx, row)).filter(of.isWanted);
  const ids = [...new Set(waiting.map(({ alertId }) => alertId))].sort().map((id) => tx.dialect.id16(id));
  // Alerts are locked before deliveries, everywhere. What changed until then is read again.
  await rowsIn(
    tx,
    ids,
    (listed) => `select id from alerts where id in (${listed}) order by id${tx.dialect.lock.update}`,
  );
  const locked = await rowsIn(tx, ids, (listed) => of.ask(`and d.alert_id in (${listed})`), of.values);
  return locked.map((row) => toUntoldMessage(tx, row));
}

function toUntoldMessage({ dialect }: Tx, row: Row): UntoldMessage {
  return {
    id: dialect.id16Text(row['id']),
    createdAt: Number(row['created_at']),
    alertId: dialect.id16Text(row['alert_id']),
    cronJobId: Number(row['cronjob_id']),
    cronJob: { namespace: String(row['namespace']), name: String(row['cronjob_name']) },
    // The row of a monitor stays as long as an alert refers to it.
    monitor: { namespace: optionalText(row['monitor_namespace']) ?? '', name: optionalText(row['monitor_name']) ?? '' },
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    activatedAt: Number(row['activated_at'] ?? 0),
    isDelayed: Number(row['delayed']) === 1,
  };
}

/** Those of these alerts with a message in flight to a receiver that has not failed yet: it shows in a moment whether they are told. */
export async function listBeingTold(tx: Tx, alertIds: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await rowsIn(
    tx,
    alertIds.map((id) => tx.dialect.id16(id)),
    (listed) =>
      `select distinct alert_id from deliveries where alert_id in (${listed}) and kind in ('firing', 'flapping') and maybe_sent = 0 ` +
      "and (state = 'claimed' or (state = 'ready' and coalesce(state_reason, '') not in ('after', 'backoff')))",
  );
  return new Set(found.map((row) => tx.dialect.id16Text(row['alert_id'])));
}

/** A message is looked at again then, and not before. */
export async function updateLookedAt(tx: Tx, ids: readonly string[], nextAt: Instant): Promise<void> {
  if (ids.length === 0) return;
  await change(
    tx,
    `update deliveries set next_at = ?, state_reason = 'order' where state = 'ready' and id in (${marks(ids)})`,
    [nextAt, ...ids.map((id) => tx.dialect.id16(id))],
  );
}

/**
 * Notes that the active alert is to be told, and asks again at `dueAt` whether it may be. `takenBack`: the messages of one decision to tell,
 * which then does not count, so the messages in their place have its number.
 */
export async function updateOwed(
  tx: Tx,
  {
    alertId,
    dueAt,
    takenBack,
  }: { readonly alertId: string; readonly dueAt: Instant; readonly takenBack: readonly string[] },
): Promise<void> {
  for (const id of takenBack) {
    const bound = tx.dialect.id16(id);
    // The cancelled message gives up its key, so that a message in its place does not count as a replay.
    await change(tx, "update deliveries set dedup_key = ? where id = ? and state = 'cancelled'", [
      `taken back ${id}`,
      bound,
    ]);
  }
  const used = takenBack.length > 0 ? 1 : 0;
  await change(tx, "update alerts set due_at = ?, notify_no = notify_no - ? where id = ? and state = 'active'", [
    dueAt,
    used,
    tx.dialect.id16(alertId),
  ]);
}
