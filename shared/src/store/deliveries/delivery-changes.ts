import { recordChanges } from '../changes.ts';
import type { Db, Tx } from '../database.ts';
import { rowsIn } from '../upsert.ts';
import type { DeliveryKind, DeliveryState } from '../../contract/index.ts';
import { type ToldDeliveryChange } from './delivery-record.ts';
import { idOrUndefined } from '../column.ts';

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
