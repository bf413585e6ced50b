import type { DeliveryKind } from '@cronjob-monitor/shared/contract';
import { askAgainMs } from '@cronjob-monitor/shared/domain';
import {
  listDeliveriesOfAlert,
  recordDecisions,
  updateCancelled,
  updateOwed,
  type Tx,
  type UntoldMessage,
} from '@cronjob-monitor/shared/store';

/** A message that was taken back before it left. */
export interface TakenBack {
  readonly alertId: string;
  readonly channel: string;
  readonly kind: DeliveryKind;
  readonly reason: Holder['reason'];
}

/** What holds messages back that wait. */
interface Holder {
  readonly reason: 'dependsOn' | 'silence';
  /** The alert of the parent, the id of the silence. */
  readonly ref: string;
}

/**
 * Takes back all that waits of the first message of an alert, which is locked: it is owed, as if the holder had been there when it was made.
 * Where a channel has heard of the alert, or hears of it now, the others do too, and nothing is taken back.
 */
export async function takeBack(
  tx: Tx,
  { alertId, cronJobId, activatedAt }: UntoldMessage,
  { reason, ref: detail }: Holder,
): Promise<TakenBack[]> {
  const now = tx.now();
  const own = (await listDeliveriesOfAlert(tx, alertId)).filter(({ createdAt }) => createdAt >= activatedAt);
  if (own.some(({ fate, maybeSent }) => fate === 'sent' || fate === 'claimed' || maybeSent)) return [];
  const left: TakenBack[] = [];
  const takenBack: string[] = [];
  for (const { id: deliveryId, state, kind, channelUid, channelName: channel } of own) {
    if (state !== 'ready' || (kind !== 'firing' && kind !== 'flapping')) continue;
    // One per channel; they share a connection.
    const { cancelled } = await updateCancelled(tx, deliveryId, now);
    if (!cancelled) continue;
    left.push({ alertId, channel, kind, reason });
    takenBack.push(deliveryId);
    await recordDecisions(tx, [{ action: 'cancelled', reason, alertId, cronJobId, deliveryId, channelUid, detail }]);
  }
  if (left.length === 0) return [];
  const isAll = own.every(({ id, state }) => state === 'cancelled' || takenBack.includes(id));
  await updateOwed(tx, { alertId, dueAt: now + askAgainMs, takenBack: isAll ? takenBack : [] });
  await recordDecisions(tx, [{ action: 'held', reason, alertId, cronJobId, detail, once: true }]);
  return left;
}
