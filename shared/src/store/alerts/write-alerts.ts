import type { AlertRecord, Instant } from '../../domain/index.ts';
import { change, findById, inParts, insertRows, marks, rows } from '../ask.ts';
import { noteMove } from '../changes.ts';
import type { Db, Tx } from '../database.ts';
import { toId16 } from '../id16.ts';
import { quoted, rowsIn } from '../upsert.ts';
import { alertColumns, movingAlertColumns, toAlertRecord, toMovingValues } from './alert-record.ts';

const selected = quoted(alertColumns);

/**
 * The live alerts of these identities by fingerprint, locked until the transaction ends; an identity without one is absent. The rows
 * of their CronJobs are to be locked before: so no other writer opens one meanwhile.
 */
export async function lockLiveAlerts(
  tx: Tx,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, AlertRecord>> {
  return lockByFingerprint(
    tx,
    fingerprints,
    (marks) => `select ${selected} from alerts where live_key in (${marks}) order by live_key`,
  );
}

/** The alert that ended last of each of these identities by fingerprint, locked; an identity that never had one is absent. */
export async function lockLastEndedAlerts(
  tx: Tx,
  fingerprints: readonly string[],
): Promise<ReadonlyMap<string, AlertRecord>> {
  return lockByFingerprint(
    tx,
    fingerprints,
    (marks) =>
      `select ${quoted(alertColumns, 'a')} from alerts a where a.fingerprint in (${marks}) and a.live_key is null and not exists (` +
      'select 1 from alerts b where b.fingerprint = a.fingerprint and b.live_key is null and ' +
      '(b.detected_at > a.detected_at or (b.detected_at = a.detected_at and b.id > a.id))) order by a.fingerprint',
  );
}

async function lockByFingerprint(
  tx: Tx,
  fingerprints: readonly string[],
  toSql: (marks: string) => string,
): Promise<ReadonlyMap<string, AlertRecord>> {
  const keys = new Map([...new Set(fingerprints)].map((fingerprint) => [toId16(fingerprint), fingerprint]));
  const found = await rowsIn(
    tx,
    [...keys.keys()].toSorted().map((key) => tx.dialect.id16(key)),
    (marks) => toSql(marks) + tx.dialect.lock.update,
  );
  const alerts = new Map<string, AlertRecord>();
  for (const row of found) {
    const alert = toAlertRecord(tx, row);
    const fingerprint = keys.get(alert.fingerprint);
    if (fingerprint !== undefined) alerts.set(fingerprint, { ...alert, fingerprint });
  }
  return alerts;
}

/** Locks and reads the alert of this id; undefined: no such alert. */
export function lockAlert(tx: Tx, id: string): Promise<AlertRecord | undefined> {
  return findById(tx, `select ${selected} from alerts where id = ?${tx.dialect.lock.update}`, id, toAlertRecord);
}

export async function insertAlerts(tx: Tx, alerts: readonly AlertRecord[]): Promise<void> {
  await insertRows(tx, { table: 'alerts', columns: alertColumns, rows: alerts.map((alert) => toAlertRow(tx, alert)) });
}

/** Writes all that may change of an alert whose row is locked. */
export async function updateAlert(tx: Tx, alert: AlertRecord): Promise<void> {
  noteMove(tx, { namespace: alert.namespace, alertId: alert.id });
  const assignments = movingAlertColumns.map((column) => `"${column}" = ?`).join(', ');
  await change(tx, `update alerts set ${assignments} where id = ?`, [
    ...toMovingValues(tx, alert),
    tx.dialect.id16(alert.id),
  ]);
}

/**
 * Whether the second says nothing else than the first, but for when the condition was last seen to hold: an age that grew by less than
 * its sentence shows is the same figure.
 */
export function isOnlySeen(db: Db, before: AlertRecord, after: AlertRecord): boolean {
  const figures = after.message === before.message ? before.figures : after.figures;
  const values = toMovingValues(db, before);
  // Keys are bytes or text, the rest is numbers and text.
  return toMovingValues(db, { ...after, figures, lastSeenAt: before.lastSeenAt }).every(
    (value, index) => String(value) === String(values[index]),
  );
}

/** The conditions of these alerts, whose rows are locked, still hold at this instant. */
export async function updateSeen(tx: Tx, alertIds: readonly string[], at: Instant): Promise<void> {
  for (const part of inParts(alertIds)) {
    await change(tx, `update alerts set last_seen_at = ? where id in (${marks(part)})`, [
      at,
      ...part.map((id) => tx.dialect.id16(id)),
    ]);
  }
}

/** The live alerts about CronJobs that are expected and not there, of all monitors. */
export async function listDisappearances(db: Db): Promise<AlertRecord[]> {
  const found = await rows(
    db,
    `select ${selected} from alerts where state in ('pending', 'active', 'suppressed') and type = 'absent' ` +
      "and subject = 'disappeared' order by detected_at, id",
  );
  return found.map((row) => toAlertRecord(db, row));
}

/** The live alerts of these CronJobs, oldest first. */
export async function listLiveAlerts(db: Db, cronJobIds: readonly number[]): Promise<AlertRecord[]> {
  const found = await rowsIn(
    db,
    cronJobIds,
    (marks) =>
      `select ${selected} from alerts where cronjob_id in (${marks}) and state in ('pending', 'active', 'suppressed') order by detected_at, id`,
  );
  return found.map((row) => toAlertRecord(db, row));
}

/**
 * Live alerts whose instant has come: a delay that ran out, a mute or a hold that is to be asked again. The most overdue first.
 */
export async function listDueAlerts(db: Db, at: Instant, limit: number): Promise<AlertRecord[]> {
  const found = await rows(
    db,
    `select ${selected} from alerts where state in ('pending', 'active', 'suppressed') and due_at <= ? order by due_at, id limit ${Math.floor(limit)}`,
    [at],
  );
  return found.map((row) => toAlertRecord(db, row));
}

/**
 * Moves the ends of delays that run, milliseconds: of all, as the clock by which they were written was moved; or of one monitor's alerts that
 * were found before `foundBefore`, as it was given another delay.
 */
export async function movePendingDue(
  tx: Tx,
  byMs: number,
  of?: { readonly monitorId: number; readonly foundBefore: Instant },
): Promise<void> {
  await change(
    tx,
    `update alerts set due_at = due_at + ? where state = 'pending' and due_at is not null${of ? ' and monitor_id = ? and detected_at < ?' : ''}`,
    [byMs, ...(of ? [of.monitorId, of.foundBefore] : [])],
  );
}

/** Values in the order of the columns. */
function toAlertRow(db: Db, alert: AlertRecord): unknown[] {
  return [
    db.dialect.id16(alert.id),
    db.dialect.id16(alert.fingerprint),
    alert.monitorId,
    alert.cronJobId,
    alert.namespace,
    alert.cronJobName,
    alert.type,
    alert.subject ?? null,
    ...toMovingValues(db, alert),
  ];
}
