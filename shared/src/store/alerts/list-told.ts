import type {
  DeliveryErrorCategory,
  DeliveryKind,
  DeliveryState,
  DeliveryStateReason,
  ToldReason,
} from '../../contract/index.ts';
import type { Instant } from '../../domain/index.ts';
import { rows, type Row } from '../ask.ts';
import { fromJson, optionalNumber, optionalText } from '../column.ts';
import type { Db } from '../database.ts';
import { afterCause } from '../deliveries/delivery-record.ts';
import { rowsIn } from '../upsert.ts';

/** A message about an alert, as far as it says whether it was told. */
export interface ToldDelivery {
  readonly id: string;
  readonly channel: string;
  readonly kind: DeliveryKind;
  readonly state: DeliveryState;
  readonly stateReason: DeliveryStateReason | undefined;
  /** The first message to a channel whose turn comes after other channels. */
  readonly isTurn: boolean;
  readonly attempts: number;
  readonly createdAt: Instant;
  readonly endedAt: Instant | undefined;
  readonly expiresAt: Instant;
  readonly nextAttemptAt: Instant | undefined;
  /** Until then its channel takes nothing but a probe, since messages failed in a row; undefined: it does not rest. */
  readonly restsUntil: Instant | undefined;
  readonly category: DeliveryErrorCategory | undefined;
  readonly httpStatus: number | undefined;
}

/** Entries of ledger and outbox about one alert. */
export interface ToldFacts {
  /** Oldest first; one that was merged into another counts as that one. */
  readonly deliveries: readonly ToldDelivery[];
  /** Why its last message was not made or is held back; undefined: nothing of the kind was decided. */
  readonly decision:
    | { readonly action: 'notRouted' | 'held'; readonly reason: ToldReason; readonly untilAt: Instant | undefined }
    | undefined;
}

const columns = [
  'id',
  'alert_id',
  'channel_uid',
  'channel_name',
  'kind',
  'state',
  'state_reason',
  'cause',
  'attempts',
  'created_at',
  'ended_at',
  'expires_at',
  'next_at',
  'last_error',
  'http_status',
  'merged_into',
]
  .map((column) => `"${column}"`)
  .join(', ');

/** Whether these alerts were told; one of which nothing is known is absent. */
export async function listTold(db: Db, alertIds: readonly string[]): Promise<ReadonlyMap<string, ToldFacts>> {
  const ids = alertIds.map((id) => db.dialect.id16(id));
  const found = await rowsIn(
    db,
    ids,
    (marks) => `select ${columns} from deliveries where alert_id in (${marks}) order by created_at, seq`,
  );
  const mergedIds = [...new Set(found.flatMap((row) => (row['merged_into'] === null ? [] : [row['merged_into']])))];
  const merged = await rowsIn(db, mergedIds, (marks) => `select ${columns} from deliveries where id in (${marks})`);
  const byId = new Map(merged.map((row) => [db.dialect.id16Text(row['id']), row]));
  const decisions = await rowsIn(
    db,
    ids,
    (marks) =>
      'select alert_id, action, reason, until_at from alert_decisions ' +
      `where alert_id in (${marks}) and (action in ('notRouted', 'held') or ` +
      "(action = 'cancelled' and reason in ('channelDeleted', 'alertingDisabled'))) order by id",
  );

  const resting = await rows(db, "select uid, hold_until from channels where hold = 'circuit'");
  const restOf = new Map(resting.map((row) => [db.dialect.id16Text(row['uid']), optionalNumber(row['hold_until'])]));

  const deliveriesOf = Map.groupBy(found, (row) => db.dialect.id16Text(row['alert_id']));
  const decisionOf = new Map(decisions.map((row) => [db.dialect.id16Text(row['alert_id']), row])); // the last one stays
  const told = new Map<string, ToldFacts>();
  for (const id of new Set([...deliveriesOf.keys(), ...decisionOf.keys()])) {
    const own = deliveriesOf.get(id) ?? [];
    told.set(id, {
      deliveries: own.map((row) => ({
        ...toDelivery(db, row, mergedOf(db, row, byId)),
        restsUntil: restOf.get(db.dialect.id16Text(row['channel_uid'])),
      })),
      decision: toDecision(decisionOf.get(id)),
    });
  }
  return told;
}

function mergedOf(db: Db, row: Row, byId: ReadonlyMap<string, Row>): Row {
  const into = row['merged_into'];
  return into === null ? row : (byId.get(db.dialect.id16Text(into)) ?? row);
}

/** The row itself, with the fate of the one it was merged into. */
function toDelivery(db: Db, row: Row, fate: Row): Omit<ToldDelivery, 'restsUntil'> {
  const error = fromJson(fate['last_error']) as { category?: DeliveryErrorCategory } | undefined;
  return {
    id: db.dialect.id16Text(row['id']),
    channel: String(row['channel_name']),
    kind: String(row['kind']) as DeliveryKind,
    state: String(fate['state']) as DeliveryState,
    stateReason: optionalText(fate['state_reason']) as DeliveryStateReason | undefined,
    isTurn: row['cause'] === afterCause,
    attempts: Number(fate['attempts']),
    createdAt: Number(row['created_at']),
    endedAt: optionalNumber(fate['ended_at']),
    expiresAt: Number(fate['expires_at']),
    nextAttemptAt: optionalNumber(fate['next_at']),
    category: error?.category,
    httpStatus: optionalNumber(fate['http_status']),
  };
}

function toDecision(row: Row | undefined): ToldFacts['decision'] {
  if (!row) return undefined;
  return {
    action: row['action'] === 'held' ? 'held' : 'notRouted',
    reason: String(row['reason']) as ToldReason,
    untilAt: optionalNumber(row['until_at']),
  };
}
