import {
  type AlertState,
  type AlertSubject,
  type AlertType,
  isOpenAlert,
  type Severity,
  type SeveritySource,
  type Suppression,
} from '../../contract/vocabulary.ts';
import type { AlertRecord, Flips } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { cleanText, fromJson, optionalCleanText, optionalNumber, optionalText, toJson } from '../column.ts';
import type { Db } from '../database.ts';
import { toFault, toFaultColumns } from '../fault-columns.ts';

/** Columns that never change come first, up to `cronjob_name`. */
const fixed = [
  'id',
  'fingerprint',
  'monitor_id',
  'cronjob_id',
  'namespace',
  'cronjob_name',
  'type',
  'subject',
] as const;
const moving = [
  'live_key',
  'severity',
  'severity_source',
  'state',
  'suppressed_by',
  'suppressed_ref',
  'due_at',
  'since_at',
  'detected_at',
  'activated_at',
  'ended_at',
  'close_cause',
  'last_seen_at',
  'last_notified_at',
  'notify_no',
  'count',
  'signature',
  'flips',
  'flapping_until',
  'quiet_count',
  'reopened',
  'delayed',
  'storm_id',
  'message',
  'figures',
  'context',
  'cause',
  'scope',
] as const;
export const alertColumns = [...fixed, ...moving] as const;
export const movingAlertColumns = moving;

/** Values in the order of the columns that may change. */
export function toMovingValues(db: Db, alert: AlertRecord): unknown[] {
  return [
    isOpenAlert(alert.state) ? db.dialect.id16(alert.fingerprint) : null,
    alert.severity,
    alert.severitySource,
    alert.state,
    alert.suppressedBy ?? null,
    optionalCleanText(alert.suppressedRef, 253),
    alert.dueAt ?? null,
    alert.sinceAt,
    alert.detectedAt,
    alert.activatedAt ?? null,
    alert.endedAt ?? null,
    alert.closeCause ?? null,
    alert.lastSeenAt,
    alert.lastNotifiedAt ?? null,
    alert.notifyNo,
    alert.count,
    optionalCleanText(alert.signature, 128),
    toJson(alert.flips),
    alert.flappingUntil ?? null,
    alert.quietCount,
    alert.reopened,
    Number(alert.delayed),
    alert.digestId === undefined ? null : db.dialect.id16(alert.digestId),
    cleanText(alert.message, 4_000),
    toJson(alert.figures),
    toJson(alert.context),
    ...toFaultColumns(alert.fault),
  ];
}

export function toAlertRecord(db: Db, row: Row): AlertRecord {
  return {
    id: db.dialect.id16Text(row['id']),
    fingerprint: db.dialect.id16Text(row['fingerprint']),
    monitorId: Number(row['monitor_id']),
    cronJobId: Number(row['cronjob_id']),
    namespace: String(row['namespace']),
    cronJobName: String(row['cronjob_name']),
    // Words are written from the same types.
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    severitySource: String(row['severity_source']) as SeveritySource,
    state: String(row['state']) as AlertState,
    suppressedBy: optionalText(row['suppressed_by']) as Suppression | undefined,
    suppressedRef: optionalText(row['suppressed_ref']),
    dueAt: optionalNumber(row['due_at']),
    sinceAt: Number(row['since_at']),
    detectedAt: Number(row['detected_at']),
    activatedAt: optionalNumber(row['activated_at']),
    endedAt: optionalNumber(row['ended_at']),
    closeCause: optionalText(row['close_cause']),
    lastSeenAt: Number(row['last_seen_at']),
    lastNotifiedAt: optionalNumber(row['last_notified_at']),
    notifyNo: Number(row['notify_no']),
    count: Number(row['count']),
    signature: optionalText(row['signature']),
    flips: (fromJson(row['flips']) as Flips | undefined) ?? [],
    flappingUntil: optionalNumber(row['flapping_until']),
    quietCount: Number(row['quiet_count']),
    reopened: Number(row['reopened']),
    delayed: Number(row['delayed']) === 1,
    digestId: row['storm_id'] === null ? undefined : db.dialect.id16Text(row['storm_id']),
    message: String(row['message']),
    figures: fromJson(row['figures']) ?? undefined,
    context: fromJson(row['context']) ?? undefined,
    fault: toFault(row),
  };
}
