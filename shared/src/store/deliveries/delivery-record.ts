import type {
  DeliveryErrorCategory,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  MessageSeverity,
} from '../../contract/index.ts';
import type { AlertDecision } from '../alert-decisions.ts';
import { type FrozenMessage, hourMs, type Instant } from '../../domain/index.ts';
import type { Row } from '../ask.ts';
import { idOrUndefined } from '../column.ts';
import type { Db, Tx } from '../database.ts';
import { recordChanges } from '../changes.ts';
import { rowsIn } from '../upsert.ts';

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

/** Tells the stream of these messages. Claims are not told: they last for seconds and end in a state that is. */
export async function recordDeliveryChanges(tx: Tx, deliveries: readonly ToldDeliveryChange[]): Promise<void> {
  await recordChanges(
    tx,
    deliveries.map(({ id, alertId, channelName, kind, state }) => ({
      kind: 'delivery',
      namespace: undefined,
      data: { id, alertId: alertId ?? null, channel: channelName, kind, state },
    })),
  );
}

/** The same of rows as they are now. */
export async function recordChangesOf(tx: Tx, ids: readonly string[]): Promise<void> {
  await recordDeliveryChanges(tx, await listShown(tx, ids));
}

async function listShown(db: Db, ids: readonly string[]): Promise<ToldDeliveryChange[]> {
  const found = await rowsIn(
    db,
    ids.map((id) => db.dialect.id16(id)),
    (marks) => `select id, alert_id, channel_name, kind, state from deliveries where id in (${marks}) order by id`,
  );
  return found.map((row) => ({
    id: db.dialect.id16Text(row['id']),
    alertId: idOrUndefined(db, row['alert_id']),
    channelName: String(row['channel_name']),
    kind: String(row['kind']) as DeliveryKind,
    state: String(row['state']) as DeliveryState,
  }));
}
