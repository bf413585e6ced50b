import type {
  AlertType,
  ChannelType,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  MessageSeverity,
  Ref,
} from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { firstRow, marks, rows, type Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText, idOrUndefined } from '../column.ts';
import type { Db } from '../database.ts';
import { quoted } from '../upsert.ts';
import { type StoredDeliveryError } from './delivery-record.ts';

/** A message as people look at it: what it was, where it stands, why it failed. */
export interface StoredDelivery {
  readonly id: string;
  /** Undefined: a test or a digest. */
  readonly alertId: string | undefined;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  readonly channel: string;
  readonly channelType: ChannelType;
  readonly severity: MessageSeverity;
  readonly type: AlertType | undefined;
  readonly cronJob: Ref | undefined;
  readonly attempts: number;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly sentAt: Instant | undefined;
  /** Undefined: closed or parked. */
  readonly nextAttemptAt: Instant | undefined;
  readonly stateReason: DeliveryStateReason | undefined;
  readonly lastError: StoredDeliveryError | undefined;
  readonly mergedInto: string | undefined;
  /** Of the answer that ended it. */
  readonly httpStatus: number | undefined;
}

/** Lists are ORed inside and ANDed; an empty one filters nothing. */
export interface DeliveryFilter {
  readonly ids?: readonly string[] | undefined;
  readonly alertId?: string | undefined;
  /** Names. */
  readonly channels?: readonly string[] | undefined;
  readonly channelUid?: string | undefined;
  readonly states?: readonly DeliveryState[] | undefined;
  readonly kinds?: readonly DeliveryKind[] | undefined;
  /** Of the CronJob; tests and digests have none. */
  readonly namespaces?: readonly string[] | undefined;
  /** Of its creation; inclusive. */
  readonly since?: Instant | undefined;
  /** Exclusive. */
  readonly until?: Instant | undefined;
}

type DeliverySort = 'createdAt' | 'nextAttemptAt';

const columns = [
  'id',
  'alert_id',
  'kind',
  'state',
  'channel_name',
  'severity',
  'attempts',
  'created_at',
  'expires_at',
  'first_sent_at',
  'next_at',
  'state_reason',
  'last_error',
  'http_status',
  'merged_into',
] as const;

const isOpen = "d.state in ('ready', 'claimed')";
const sortColumns: Readonly<Record<DeliverySort, string>> = {
  createdAt: 'd.created_at',
  nextAttemptAt: `case when ${isOpen} then d.next_at end`,
};
const tables = 'deliveries d left join alerts a on a.id = d.alert_id left join channels c on c.uid = d.channel_uid';

/** Messages in the order asked for; ties by namespace, name and id. All of them without `page`. */
export async function listDeliveries(
  db: Db,
  filter: DeliveryFilter,
  options: {
    readonly sort: { readonly key: DeliverySort; readonly descending: boolean };
    readonly page?: { readonly limit: number; readonly offset: number } | undefined;
  },
): Promise<StoredDelivery[]> {
  const { sql, bindings } = conditionOf(db, filter);
  const column = sortColumns[options.sort.key];
  const found = await rows(
    db,
    `select ${quoted(columns, 'd')}, a.type as alert_type, a.namespace, a.cronjob_name, c.type as channel_type from ${tables} where ${sql} ` +
      `order by case when ${column} is null then 1 else 0 end, ${column}${options.sort.descending ? ' desc' : ''}, ` +
      `coalesce(a.namespace, ''), coalesce(a.cronjob_name, ''), d.id${options.page ? ' limit ? offset ?' : ''}`,
    options.page ? [...bindings, options.page.limit, options.page.offset] : bindings,
  );
  return found.map((row) => toStoredDelivery(db, row));
}

export async function countDeliveries(db: Db, filter: DeliveryFilter): Promise<number> {
  const { sql, bindings } = conditionOf(db, filter);
  const row = await firstRow(db, `select count(*) as n from ${tables} where ${sql}`, bindings);
  return Number(row?.['n'] ?? 0);
}

/** Undefined: there is none of this id, or no longer. */
export async function findDelivery(db: Db, id: string): Promise<StoredDelivery | undefined> {
  return (await listDeliveries(db, { ids: [id] }, { sort: { key: 'createdAt', descending: false } }))[0];
}

function conditionOf(db: Db, filter: DeliveryFilter): { sql: string; bindings: readonly unknown[] } {
  const parts = ['1 = 1'];
  const bindings: unknown[] = [];
  const add = (condition: string, ...values: readonly unknown[]): void => {
    parts.push(condition);
    bindings.push(...values);
  };
  const isOneOf = (column: string, values: readonly unknown[] = []): void => {
    if (values.length > 0) add(`${column} in (${marks(values)})`, ...values);
  };
  const bound = (id: string): unknown => db.dialect.id16(id);
  isOneOf('d.id', filter.ids?.map(bound));
  if (filter.alertId !== undefined) add('d.alert_id = ?', bound(filter.alertId));
  if (filter.channelUid !== undefined) add('d.channel_uid = ?', bound(filter.channelUid));
  isOneOf('d.channel_name', filter.channels);
  isOneOf('d.state', filter.states);
  isOneOf('d.kind', filter.kinds);
  isOneOf('a.namespace', filter.namespaces);
  if (filter.since !== undefined) add('d.created_at >= ?', filter.since);
  if (filter.until !== undefined) add('d.created_at < ?', filter.until);
  return { sql: parts.join(' and '), bindings };
}

function toStoredDelivery(db: Db, row: Row): StoredDelivery {
  const state = String(row['state']) as DeliveryState;
  const isWaiting = state === 'ready' || state === 'claimed';
  const namespace = optionalText(row['namespace']);
  return {
    id: db.dialect.id16Text(row['id']),
    alertId: idOrUndefined(db, row['alert_id']),
    kind: String(row['kind']) as DeliveryKind,
    state,
    channel: String(row['channel_name']),
    // The row of a channel stays as long as a delivery refers to it.
    channelType: (optionalText(row['channel_type']) ?? 'webhook') as ChannelType,
    severity: String(row['severity']) as MessageSeverity,
    type: optionalText(row['alert_type']) as AlertType | undefined,
    cronJob: namespace === undefined ? undefined : { namespace, name: String(row['cronjob_name']) },
    attempts: Number(row['attempts']),
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    sentAt: optionalNumber(row['first_sent_at']),
    nextAttemptAt: isWaiting ? optionalNumber(row['next_at']) : undefined,
    stateReason: isWaiting ? (optionalText(row['state_reason']) as DeliveryStateReason | undefined) : undefined,
    // Written by settleDelivery.
    lastError: (fromJson(row['last_error']) ?? undefined) as StoredDeliveryError | undefined,
    mergedInto: idOrUndefined(db, row['merged_into']),
    httpStatus: optionalNumber(row['http_status']),
  };
}

/** States of messages that may need a person. */
const openDeliveryStates = ['ready', 'claimed', 'parked', 'dead'] as const satisfies readonly DeliveryState[];
type OpenDeliveryState = (typeof openDeliveryStates)[number];

/** How many messages are in each of these states; a drill is no message about anything. */
export async function countOpenDeliveries(db: Db): Promise<Readonly<Record<OpenDeliveryState, number>>> {
  const found = await rows(
    db,
    "select state, count(*) as n from deliveries where state in ('ready', 'claimed', 'parked', 'dead') and kind <> 'drill' group by state",
  );
  const counts = new Map(found.map((row) => [String(row['state']), Number(row['n'])]));
  const of = (state: OpenDeliveryState): number => counts.get(state) ?? 0;
  return { ready: of('ready'), claimed: of('claimed'), parked: of('parked'), dead: of('dead') };
}

/** When the oldest message was made that is due and not sent, drills left out; undefined: there is none. */
export async function findOldestDue(db: Db, at: Instant): Promise<Instant | undefined> {
  const row = await firstRow(
    db,
    "select min(created_at) as oldest from deliveries where state in ('ready', 'claimed') and next_at <= ? and kind <> 'drill'",
    [at],
  );
  return optionalNumber(row?.['oldest']);
}
