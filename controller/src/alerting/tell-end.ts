import {
  isStreamShared,
  listDeliveriesOfAlert,
  updateCancelled,
  type AlertDelivery,
  type AlertRecord,
} from '@cronjob-monitor/shared/store';
import { queue } from './tell.ts';
import { decide, type Turn } from './turn.ts';

/**
 * The channels that were told of an alert hear that it is over, whatever the routes are now. What has not left is taken back instead:
 * who never heard of it hears nothing. A message that is on its way, or may have arrived, is followed by its closing.
 */
export async function tellEnd(turn: Turn, ended: AlertRecord): Promise<AlertRecord> {
  if (ended.notifyNo === 0) return ended;
  const deliveries = await listDeliveriesOfAlert(turn.tx, ended.id);
  const closing: AlertRecord = { ...ended, notifyNo: ended.notifyNo + 1 };
  let isTold = false;
  for (const [channelUid, all] of Map.groupBy(deliveries, (delivery) => delivery.channelUid)) {
    // A few per alert; they share a connection.
    if (await tellChannelEnd(turn, closing, channelUid, sinceLastClosing(all))) isTold = true;
  }
  return isTold ? closing : ended;
}

/** Messages of this life of the alert; a closing that a twin or a digest speaks for is no end of one. */
function sinceLastClosing(all: readonly AlertDelivery[]): readonly AlertDelivery[] {
  const last = all.findLastIndex(
    ({ kind, state }) => kind === 'closing' && state !== 'cancelled' && state !== 'collapsed' && state !== 'digested',
  );
  return all.slice(last + 1).filter(({ kind }) => kind !== 'closing');
}

async function tellChannelEnd(
  turn: Turn,
  closing: AlertRecord,
  channelUid: string,
  openings: readonly AlertDelivery[],
): Promise<boolean> {
  let last: AlertDelivery | undefined;
  for (const opening of openings) {
    const isTold = hasLeft(opening) || !(await takeBack(turn, closing, opening));
    // One that a whole gap was replayed with is told as one message, with both of its times.
    const isReplay = closing.delayed && turn.verdict.kind === 'quiet' && turn.verdict.delayed === true;
    if (opening.fate !== 'dead' && opening.fate !== 'cancelled' && (isTold || isReplay)) last = opening;
  }
  if (last === undefined) return false;
  const channel = [...turn.channels.values()].find(({ uid }) => uid === channelUid);
  if (channel === undefined) return false;
  if (!channel.sendResolved) {
    decide(turn, closing, { action: 'notRouted', reason: 'sendResolved', channelUid });
    return false;
  }
  const { streamId } = last;
  const isShared = await isStreamShared(turn.tx, { streamId, channelUid, alertId: closing.id });
  const state = isShared ? (last.fate === 'digested' ? 'digested' : 'collapsed') : 'ready';
  const mergedInto = isShared ? (last.mergedInto ?? last.id) : undefined;
  const id = await queue(turn, closing, {
    kind: 'closing',
    held: undefined,
    channel,
    streamId,
    collapseKey: undefined,
    state,
    mergedInto,
    nextAt: turn.now,
  });
  if (id === undefined) return false;
  const of = { deliveryId: id, channelUid };
  if (isShared) {
    decide(turn, closing, { ...of, action: 'collapsed', reason: 'stream', detail: mergedInto });
    turn.unsent.push({ channel: channel.name, kind: 'closing', result: 'collapsed' });
  } else decide(turn, closing, { ...of, action: 'queued', reason: 'closing' });
  return true;
}

/** It arrived, is on its way, or may have arrived. */
function hasLeft({ fate, maybeSent }: AlertDelivery): boolean {
  return fate === 'sent' || fate === 'digested' || fate === 'claimed' || (maybeSent && fate !== 'dead');
}

/** False: it left meanwhile. What is over by itself counts as taken back. */
async function takeBack(turn: Turn, closing: AlertRecord, opening: AlertDelivery): Promise<boolean> {
  if (opening.fate === 'dead' || opening.fate === 'cancelled') return true;
  const { cancelled } = await updateCancelled(turn.tx, opening.id, turn.now);
  if (cancelled) {
    const { id: deliveryId, channelUid, channelName, kind } = opening;
    decide(turn, closing, { action: 'cancelled', reason: 'clearedBeforeSent', deliveryId, channelUid });
    turn.unsent.push({ channel: channelName, kind, result: 'cancelled' });
  }
  return cancelled;
}
