import type { FrozenMessage } from '../../domain/index.ts';
import { change } from '../ask.ts';
import { toJson } from '../column.ts';
import type { Tx } from '../database.ts';
import { toId16 } from '../id16.ts';

/**
 * Freezes anew a message that was not sent yet, now that it says what held it back: every attempt sends the same. False: the claim
 * is not ours any more.
 */
export async function updateHeldMessage(
  tx: Tx,
  of: { readonly deliveryId: string; readonly claimedBy: string; readonly payload: FrozenMessage },
): Promise<boolean> {
  const changed = await change(
    tx,
    "update deliveries set payload = ? where id = ? and claimed_by = ? and epoch = ? and state = 'claimed' and attempts <= 1 and maybe_sent = 0",
    [toJson(of.payload), tx.dialect.id16(toId16(of.deliveryId)), of.claimedBy, tx.epoch ?? null],
  );
  return changed > 0;
}
