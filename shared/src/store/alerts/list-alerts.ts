import type { Ref } from '../../contract/index.ts';
import {
  alertStates,
  alertTypeTable,
  openAlertStates,
  severities,
  type AlertState,
  type AlertSubject,
  type AlertType,
  type FailureCause,
  type Severity,
  type SeveritySource,
  type Suppression,
} from '../../contract/vocabulary.ts';
import type { AlertRecord, Fault, Instant } from '../../domain/index.ts';
import { inParts, marks, rows, type Row } from '../ask.ts';
import { afterRow, orderOf, type OrderKey } from '../keyset.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { toFault } from '../fault-columns.ts';
import { toMutedThere, type MutedThere } from './told-there.ts';
import { faultWords } from '../words.ts';
import { filledUp, quoted } from '../upsert.ts';
import { alertColumns, toAlertRecord } from './alert-record.ts';

/** One incident, open or in history, with its acknowledgement. */
export interface StoredAlert {
  readonly id: string;
  readonly cronJobId: number;
  readonly monitorId: number;
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
  readonly severitySource: SeveritySource;
  readonly state: AlertState;
  readonly closeCause: string | undefined;
  readonly suppressedBy: Suppression | undefined;
  readonly dueAt: Instant | undefined;
  readonly message: string;
  readonly cronJob: Ref;
  readonly monitor: Ref;
  readonly sinceAt: Instant;
  readonly detectedAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly count: number;
  /** Undefined: it does not flap. */
  readonly flappingUntil: Instant | undefined;
  /** The alert flaps, and its condition did not hold at the last verdict. */
  readonly isWellForNow: boolean;
  readonly delayed: boolean;
  readonly lastNotifiedAt: Instant | undefined;
  /** Measured value, limit and unit; JSON of the rule that raised it. */
  readonly figures: unknown;
  /** The run it speaks of; JSON of the rule that raised it. */
  readonly context: unknown;
  /** Receivers that keep it from people, by the name of the channel. */
  readonly mutedThere: MutedThere;
  readonly fault: Fault | undefined;
  readonly acknowledgement:
    | {
        readonly by: string;
        readonly at: Instant;
        readonly note: string | undefined;
        readonly expiresAt: Instant | undefined;
      }
    | undefined;
}

export interface AlertFilter {
  /** Only these; absent: any. */
  readonly ids?: readonly string[] | undefined;
  readonly states: readonly AlertState[];
  readonly severities?: readonly Severity[] | undefined;
  readonly types?: readonly AlertType[] | undefined;
  /** Whose fault they are. */
  readonly causes?: readonly FailureCause[] | undefined;
  readonly namespaces?: readonly string[] | undefined;
  /** Of these CronJobs. */
  readonly cronJobIds?: readonly number[] | undefined;
  /** Names of CronJobs. */
  readonly cronJobs?: readonly string[] | undefined;
  readonly monitor?: Ref | undefined;
  readonly acknowledged?: boolean | undefined;
  /** Of its end; inclusive. */
  readonly endedSince?: Instant | undefined;
  /** Exclusive. */
  readonly endedUntil?: Instant | undefined;
}

export type AlertSort = 'severity' | 'since' | 'type' | 'namespace' | 'cronjob' | 'endedAt';

/** The values of the keys of an order in an alert. */
function keysOf(db: Db, key: AlertSort, alert: StoredAlert): readonly unknown[] {
  const { namespace, name } = alert.cronJob;
  const values: Readonly<Record<AlertSort, unknown>> = {
    severity: alert.severity === 'critical' ? 0 : 1,
    since: alert.sinceAt,
    type: alert.type,
    namespace,
    cronjob: name,
    endedAt: alert.endedAt ?? null,
  };
  return [values[key], alert.sinceAt, namespace, name, db.dialect.id16(alert.id)];
}

const ties: readonly OrderKey[] = [
  { sql: 'a.since_at' },
  { sql: 'a.namespace' },
  { sql: 'a.cronjob_name' },
  { sql: 'a.id' },
];

const severityRank = `case a.severity when 'critical' then 0 else 1 end`;
const sortColumns: Readonly<Record<AlertSort, string>> = {
  severity: severityRank,
  since: 'a.since_at',
  type: 'a.type',
  namespace: 'a.namespace',
  cronjob: 'a.cronjob_name',
  endedAt: 'a.ended_at',
};

const columns = [
  'id',
  'cronjob_id',
  'monitor_id',
  'type',
  'subject',
  'severity',
  'severity_source',
  'state',
  'close_cause',
  'suppressed_by',
  'due_at',
  'message',
  'namespace',
  'cronjob_name',
  'since_at',
  'detected_at',
  'ended_at',
  'count',
  'flapping_until',
  'quiet_count',
  'delayed',
  'last_notified_at',
  'figures',
  'context',
  'muted_there',
  'cause',
  'scope',
].map((column) => `a."${column}"`);

const tables =
  'alerts a left join monitors m on m.id = a.monitor_id ' +
  'left join acknowledgements k on k.alert_id = a.id and k.ended_at is null';

/**
 * Alerts in the order asked for; ties by the oldest beginning, namespace, name and id. A page, or so many after an alert of the same
 * order; all of them without `page`.
 */
export async function listAlerts(
  db: Db,
  filter: AlertFilter,
  options: {
    readonly sort: { readonly key: AlertSort; readonly descending: boolean };
    readonly page?: { readonly limit: number; readonly offset: number } | undefined;
    readonly after?: StoredAlert | undefined;
  },
): Promise<StoredAlert[]> {
  const { sql, bindings } = conditionOf(db, filter);
  const { key, descending } = options.sort;
  const order = [{ sql: sortColumns[key], descending, nullable: key === 'endedAt' }, ...ties];
  const after = options.after && afterRow(order, keysOf(db, key, options.after));
  const found = await rows(
    db,
    `select ${columns.join(', ')}, m.namespace as monitor_namespace, m.name as monitor_name, ` +
      `k.by_whom, k.at as noted_at, k.note, k.expires_at as note_expires_at from ${tables} where ${sql} ` +
      `${after ? `and ${after.sql} ` : ''}order by ${orderOf(order)}${options.page ? ' limit ? offset ?' : ''}`,
    [...bindings, ...(after?.bindings ?? []), ...(options.page ? [options.page.limit, options.page.offset] : [])],
  );
  return found.map((row) => toStoredAlert(db, row));
}

/**
 * What is open about these CronJobs, pending ones too: worst first, then what is still judged before what a monitor that is gone said last,
 * then what knows a cause before figures that runs move, then the oldest.
 */
export async function listOpenAlerts(db: Db, cronJobIds: readonly number[]): Promise<StoredAlert[]> {
  const found: StoredAlert[] = [];
  for (const part of inParts(cronJobIds)) {
    const filter = { states: openAlertStates, cronJobIds: filledUp(part) };
    found.push(...(await listAlerts(db, filter, { sort: { key: 'severity', descending: false } })));
  }
  const rank = ({ severity, suppressedBy, type }: StoredAlert): number =>
    (severity === 'critical' ? 0 : 4) +
    2 * Number(suppressedBy === 'monitorGone') +
    Number(alertTypeTable[type].trouble === 'target');
  return found.toSorted((a, b) => rank(a) - rank(b));
}

/** One alert, open or in history; undefined: no alert has this id, or it was pruned. */
export async function findAlert(db: Db, id: string): Promise<StoredAlert | undefined> {
  const filter = { states: alertStates, ids: [id] };
  return (await listAlerts(db, filter, { sort: { key: 'since', descending: false } }))[0];
}

/** How many alerts a filter lets through, by severity. */
export async function countAlerts(db: Db, filter: AlertFilter): Promise<Readonly<Record<Severity, number>>> {
  const { sql, bindings } = conditionOf(db, filter);
  const found = await rows(
    db,
    `select a.severity, count(*) as n from ${tables} where ${sql} group by a.severity`,
    bindings,
  );
  const counts = new Map(found.map((row) => [String(row['severity']), Number(row['n'])]));
  return Object.fromEntries(severities.map((severity) => [severity, counts.get(severity) ?? 0])) as Record<
    Severity,
    number
  >;
}

function conditionOf(db: Db, filter: AlertFilter): { sql: string; bindings: readonly unknown[] } {
  const parts: string[] = [];
  const bindings: unknown[] = [];
  const isOneOf = (column: string, values: readonly unknown[] = []): void => {
    if (values.length === 0) return;
    parts.push(`${column} in (${marks(values)})`);
    bindings.push(...values);
  };
  parts.push(`a.state in (${marks(filter.states)})`);
  bindings.push(...filter.states);
  isOneOf(
    'a.id',
    filter.ids?.map((id) => db.dialect.id16(id)),
  );
  isOneOf('a.cronjob_id', filter.cronJobIds);
  isOneOf('a.severity', filter.severities);
  isOneOf('a.type', filter.types);
  isOneOf(
    'a.cause',
    filter.causes?.map((word) => faultWords.toNumber(word)),
  );
  isOneOf('a.namespace', filter.namespaces);
  isOneOf('a.cronjob_name', filter.cronJobs);
  if (filter.monitor) {
    parts.push('m.namespace = ? and m.name = ?');
    bindings.push(filter.monitor.namespace, filter.monitor.name);
  }
  if (filter.acknowledged !== undefined) parts.push(`k.alert_id is ${filter.acknowledged ? 'not ' : ''}null`);
  if (filter.endedSince !== undefined) {
    parts.push('a.ended_at >= ?');
    bindings.push(filter.endedSince);
  }
  if (filter.endedUntil !== undefined) {
    parts.push('a.ended_at < ?');
    bindings.push(filter.endedUntil);
  }
  return { sql: parts.join(' and '), bindings };
}

function toStoredAlert(db: Db, row: Row): StoredAlert {
  const by = optionalText(row['by_whom']);
  return {
    id: db.dialect.id16Text(row['id']),
    cronJobId: Number(row['cronjob_id']),
    monitorId: Number(row['monitor_id']),
    type: String(row['type']) as AlertType,
    subject: optionalText(row['subject']) as AlertSubject | undefined,
    severity: String(row['severity']) as Severity,
    severitySource: String(row['severity_source']) as SeveritySource,
    state: String(row['state']) as AlertState,
    closeCause: optionalText(row['close_cause']),
    suppressedBy: optionalText(row['suppressed_by']) as Suppression | undefined,
    dueAt: optionalNumber(row['due_at']),
    message: String(row['message']),
    cronJob: { namespace: String(row['namespace']), name: String(row['cronjob_name']) },
    // The row of a monitor stays as long as an alert refers to it.
    monitor: { namespace: optionalText(row['monitor_namespace']) ?? '', name: optionalText(row['monitor_name']) ?? '' },
    sinceAt: Number(row['since_at']),
    detectedAt: Number(row['detected_at']),
    endedAt: optionalNumber(row['ended_at']),
    count: Number(row['count']),
    flappingUntil: optionalNumber(row['flapping_until']),
    isWellForNow: row['flapping_until'] !== null && Number(row['quiet_count']) > 0,
    delayed: Number(row['delayed']) === 1,
    lastNotifiedAt: optionalNumber(row['last_notified_at']),
    figures: fromJson(row['figures']),
    context: fromJson(row['context']),
    mutedThere: toMutedThere(row['muted_there']),
    fault: toFault(row),
    acknowledgement:
      by === undefined
        ? undefined
        : {
            by,
            at: Number(row['noted_at']),
            note: optionalText(row['note']),
            expiresAt: optionalNumber(row['note_expires_at']),
          },
  };
}

/** The alerts of these CronJobs that began last, open or over, with all that decides about their next move. */
export async function listLastAlerts(
  db: Db,
  cronJobIds: readonly number[],
  limit: number,
): Promise<readonly AlertRecord[]> {
  if (cronJobIds.length === 0) return [];
  const found = await rows(
    db,
    `select ${quoted(alertColumns)} from alerts where cronjob_id in (${marks(cronJobIds)}) ` +
      `order by case when live_key is null then 1 else 0 end, detected_at desc, id desc limit ${limit}`,
    [...cronJobIds],
  );
  return found.map((row) => toAlertRecord(db, row));
}
