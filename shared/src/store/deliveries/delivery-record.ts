import type {
  DeliveryErrorCategory,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  MessageSeverity,
} from '../../contract/index.ts';
import type { AlertDecision } from '../alert-decisions.ts';
import { type FrozenMessage, type Instant, hourMs } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { fromJson, optionalText, idOrUndefined } from '../column.ts';
import type { Db, Tx } from '../database.ts';

/** A message as it is written: what must reach which channel. */
export interface NewDelivery {
  readonly id: string;
  /** What one receiver hears about one thing: messages of one stream reach a channel in the order of `seq`. */
  readonly streamId: string;
  readonly seq: number;
  readonly alertId: string | undefined;
  readonly digestId?: string | undefined;
  readonly channel: { readonly uid: string; readonly name: string };
  readonly kind: DeliveryKind;
  /** Of a digest: its cause; `scope` also of what waits for one. Of a closing: firstNotice, where its channel had heard nothing before. `after`: its turn comes after others. `newChannel`: it is named later. */
  readonly cause?: string | undefined;
  readonly severity: MessageSeverity;
  readonly state: Extract<DeliveryState, 'ready' | 'parked' | 'collapsed' | 'digested'>;
  /** Unique: a replay writes nothing. */
  readonly dedupKey: string;
  /** The same for twins of several monitors. */
  readonly collapseKey?: string | undefined;
  readonly mergedInto?: string | undefined;
  readonly notifyNo: number;
  readonly nextAt: Instant;
  /** Why it is not due at once; absent: for no reason that is told. */
  readonly stateReason?: 'after' | 'scope' | undefined;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly payload: FrozenMessage;
}

/** A message to be sent now. */
export interface ClaimedDelivery {
  readonly id: string;
  readonly streamId: string;
  readonly alertId: string | undefined;
  readonly digestId: string | undefined;
  readonly channelUid: string;
  readonly channelName: string;
  readonly kind: DeliveryKind;
  readonly cause: string | undefined;
  readonly severity: MessageSeverity;
  readonly notifyNo: number;
  /** This one included. */
  readonly attempts: number;
  /** An earlier attempt may have reached the receiver. */
  readonly maybeSent: boolean;
  /** What made it wait before this claim. */
  readonly heldBy: DeliveryStateReason | undefined;
  /** To be sent in the reduced form. */
  readonly reduced: boolean;
  readonly createdAt: Instant;
  readonly expiresAt: Instant;
  readonly claimUntil: Instant;
  /** JSON of the channel: which recipients are done with. */
  readonly progress: unknown;
  /** Undefined: it was kept long enough and is gone. */
  readonly payload: FrozenMessage | undefined;
}

/** Why the last attempt failed, as the API shows it. */
export interface StoredDeliveryError {
  readonly category: DeliveryErrorCategory;
  readonly message: string;
  readonly httpStatus: number | null;
  readonly at: Instant;
}

const priorities: Readonly<Record<MessageSeverity, number>> = { critical: 2, warning: 1, info: 0 };
export const testPriority = 3;
export const criticalPriority = priorities.critical;
/** Every priority that there is, the most urgent first. */
export const priorityLevels: readonly number[] = [testPriority, ...Object.values(priorities)];

/** `cause` of a closing that is the first message about its alert to its channel. */
export const firstNoticeCause = 'firstNotice';
/** `cause` of the first message to a channel that hears of its alert some time after the others. */
export const afterCause = 'after';
/** `cause` of the first message to a channel that was named for its alert when others had been told already. */
export const newChannelCause = 'newChannel';

/** A message is tried for so long. */
export function keptMs(severity: MessageSeverity): number {
  return (severity === 'critical' ? 72 : 24) * hourMs;
}

/** Which goes first when several are due: a test, since a person waits for it, then the worst, last what only completes another. */
export function priorityOf(kind: DeliveryKind, severity: MessageSeverity): number {
  if (kind === 'update') return priorities.info;
  return kind === 'test' ? testPriority : priorities[severity];
}

export const claimedColumns = [
  'id',
  'stream_id',
  'alert_id',
  'storm_id',
  'channel_uid',
  'channel_name',
  'kind',
  'cause',
  'severity',
  'notify_no',
  'attempts',
  'maybe_sent',
  'reduced',
  'state',
  'state_reason',
  'charged_at',
  'created_at',
  'expires_at',
  'progress',
  'payload',
] as const;

/** The row as it was before the claim, which counts the attempt. */
export function toClaimed(db: Db, row: Row, claimUntil: Instant): ClaimedDelivery {
  return {
    id: db.dialect.id16Text(row['id']),
    streamId: db.dialect.id16Text(row['stream_id']),
    alertId: idOrUndefined(db, row['alert_id']),
    digestId: idOrUndefined(db, row['storm_id']),
    channelUid: db.dialect.id16Text(row['channel_uid']),
    channelName: String(row['channel_name']),
    kind: String(row['kind']) as DeliveryKind,
    cause: optionalText(row['cause']),
    severity: String(row['severity']) as MessageSeverity,
    notifyNo: Number(row['notify_no']),
    attempts: Number(row['attempts']) + 1,
    maybeSent: Number(row['maybe_sent']) === 1,
    heldBy: (optionalText(row['state_reason']) ?? undefined) as DeliveryStateReason | undefined,
    reduced: Number(row['reduced']) === 1,
    createdAt: Number(row['created_at']),
    expiresAt: Number(row['expires_at']),
    claimUntil,
    progress: fromJson(row['progress']) ?? undefined,
    payload: (fromJson(row['payload']) ?? undefined) as FrozenMessage | undefined,
  };
}

/** What a decision about a message refers to. */
export function decisionRefs(tx: Tx, row: Row): Pick<AlertDecision, 'alertId' | 'deliveryId' | 'channelUid'> {
  return {
    alertId: idOrUndefined(tx, row['alert_id']),
    deliveryId: tx.dialect.id16Text(row['id']),
    channelUid: tx.dialect.id16Text(row['channel_uid']),
  };
}

/** A message as the stream of changes tells it. */
export interface ToldDeliveryChange {
  readonly id: string;
  readonly alertId: string | undefined;
  readonly channelName: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
}
