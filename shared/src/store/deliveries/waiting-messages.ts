import type { FrozenMessage, Instant } from '../../domain/index.ts';
import { change, rows } from '../ask.ts';
import { fromJson, toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { toId16 } from '../id16.ts';

/**
 * Freezes anew the messages about an alert of which nothing was ever sent, and lets those that waited for it go at once; what waits
 * for another reason goes on waiting. Closings stay as they are. Returns how many messages changed.
 */
export async function updateWaitingMessages(
  tx: Tx,
  of: {
    readonly alertId: string;
    readonly at: Instant;
    readonly freeze: (payload: FrozenMessage) => FrozenMessage;
  },
): Promise<number> {
  const found = await rows(
    tx,
    "select id, state, payload from deliveries where alert_id = ? and state in ('ready', 'parked', 'collapsed') and attempts = 0 " +
      `and kind in ('firing', 'flapping', 'reminder') and payload is not null order by id${tx.dialect.lock.update}`,
    [tx.dialect.id16(toId16(of.alertId))],
  );
  let changed = 0;
  for (const row of found) {
    const payload = toJson(of.freeze(fromJson(row['payload']) as FrozenMessage)); // as insertDelivery wrote it
    // A few per alert; they share a connection.
    changed += await change(
      tx,
      "update deliveries set payload = ?, next_at = case when state = 'ready' and state_reason is null and next_at > ? then ? else next_at end where id = ?",
      [payload, of.at, of.at, row['id']],
    );
  }
  return changed;
}
