import { type AlertNotice, type AlertRecord, type HeldBefore, routesOf } from '@cronjob-monitor/shared/domain';
import {
  type AlertDelivery,
  firstNoticeCause,
  isStreamShared,
  listDeliveriesOfAlert,
  type RoutedChannel,
  updateCancelled,
} from '@cronjob-monitor/shared/store';
import { decide, evidenceOf, type MessageWriting, queue } from './notify.ts';

type Untold = Extract<AlertNotice, { readonly kind: 'closing' }>['untold'];

/**
 * Tells each channel that heard of an alert that it is over, whatever the routes are now. A closing follows a message that is on its way or may
 * have arrived. A channel whose message has not left gets one message about both: the hold defers the news and does not drop it. Where all the
 * channels that heard are gone, those named now get that one message. Returns the alert as it is stored with these messages.
 */
export async function notifyEnd(writing: MessageWriting, ended: AlertRecord, untold: Untold): Promise<AlertRecord> {
  const closing: AlertRecord = { ...ended, notifyNo: ended.notifyNo + 1 };
  if (untold) return (await notifyUntold(writing, closing, untold)) ? closing : ended;
  const deliveries = await listDeliveriesOfAlert(writing.tx, ended.id);
  let isTold = false;
  const toldThere = Map.groupBy(deliveries, (delivery) => channelOf(writing, delivery)?.uid ?? delivery.channelUid);
  for (const [channelUid, all] of toldThere) {
    if (await notifyChannelOfEnd(writing, closing, channelUid, sinceLastClosing(all))) isTold = true;
  }
  if (!isTold && isLostWithChannels(writing, sinceLastClosing(deliveries)))
    isTold = await notifyUntold(writing, closing, { channels: namedNow(writing, closing), held: undefined });
  return isTold ? closing : ended;
}

/** The channel of a message, or the AlertChannel that was created anew under its name. Undefined: neither exists. */
function channelOf({ channels }: MessageWriting, to: AlertDelivery): RoutedChannel | undefined {
  return [...channels.values()].find(({ uid }) => uid === to.channelUid) ?? channels.get(to.channelName);
}

/** Whether no message about this life of the alert has left and all its channels are deleted. */
function isLostWithChannels({ channels }: MessageWriting, openings: readonly AlertDelivery[]): boolean {
  const there = new Set([...channels.values()].map(({ uid }) => uid));
  return openings.length > 0 && openings.every((opening) => !hasLeft(opening) && !there.has(opening.channelUid));
}

/** The channels that hear of such an alert at once, as its monitor names them now. */
function namedNow({ finding, channels }: MessageWriting, closing: AlertRecord): readonly string[] {
  const routes = routesOf(finding.rules.alerting, closing, (name) => channels.get(name));
  return 'told' in routes ? routes.told.flatMap(({ name, afterMs }) => (afterMs === 0 ? name : [])) : [];
}

/** Tells these channels the beginning and the end of an alert whose messages a storm held back untold, or which went with their channels. */
async function notifyUntold(
  writing: MessageWriting,
  closing: AlertRecord,
  { channels, held }: { readonly channels: readonly string[]; readonly held: HeldBefore | undefined },
): Promise<boolean> {
  let isTold = false;
  for (const name of channels) {
    const channel = writing.channels.get(name);
    if (channel === undefined || !hearsOfBoth(channel)) continue;
    const place = { streamId: closing.id, state: 'ready', nextAt: writing.now, held } as const;
    if (await tellBoth(writing, closing, channel, place)) isTold = true;
  }
  return isTold;
}

/** Messages of this life of the alert; a closing that a twin or a digest speaks for is no end of one. */
function sinceLastClosing(all: readonly AlertDelivery[]): readonly AlertDelivery[] {
  const last = all.findLastIndex(
    ({ kind, state }) => kind === 'closing' && state !== 'cancelled' && state !== 'collapsed' && state !== 'digested',
  );
  return all.slice(last + 1).filter(({ kind }) => kind !== 'closing');
}

async function notifyChannelOfEnd(
  writing: MessageWriting,
  closing: AlertRecord,
  channelUid: string,
  openings: readonly AlertDelivery[],
): Promise<boolean> {
  const { heard, unheard, takenBack } = await takeBackUnsent(writing, openings);
  const channel = [...writing.channels.values()].find(({ uid }) => uid === channelUid);
  const tellsBoth = heard === undefined && unheard !== undefined && channel !== undefined && hearsOfBoth(channel);
  const first =
    tellsBoth && !(await isShared(writing, closing, unheard))
      ? await tellBoth(writing, closing, channel, placeOf(unheard, writing.now))
      : undefined;
  for (const { id: deliveryId, channelName, kind } of takenBack) {
    const reason = first === undefined ? 'clearedBeforeSent' : firstNoticeCause;
    decide(writing, closing, { action: 'cancelled', reason, deliveryId, channelUid, detail: first });
    writing.unsent.push({ channel: channelName, kind, result: 'cancelled' });
  }
  if (heard === undefined || channel === undefined) return first !== undefined;
  return tellOver(writing, closing, channel, heard);
}

/** The messages that a channel has about an alert that ended. */
interface Openings {
  /** The last message that arrived, is on its way, or may have arrived. */
  readonly heard: AlertDelivery | undefined;
  /** The last message that has not left and that no other message replaces. */
  readonly unheard: AlertDelivery | undefined;
  readonly takenBack: readonly AlertDelivery[];
}

async function takeBackUnsent(writing: MessageWriting, openings: readonly AlertDelivery[]): Promise<Openings> {
  let heard: AlertDelivery | undefined;
  let unheard: AlertDelivery | undefined;
  const takenBack: AlertDelivery[] = [];
  for (const opening of openings) {
    if (opening.fate === 'cancelled') continue;
    // The digest lists the alert as recovered.
    if (opening.state === 'ready' && opening.cause === 'scope') continue;
    const isOwn = opening.state !== 'collapsed';
    if (hasLeft(opening)) heard = opening;
    else if (opening.fate === 'dead') unheard = isOwn ? opening : unheard;
    else {
      const { cancelled, promotedId } = await updateCancelled(writing.tx, opening.id, writing.now);
      if (!cancelled) heard = opening;
      else {
        takenBack.push(opening);
        // Where another monitor's twin of this alert goes on, the twin's message is sent instead. A rung whose turn had not come gets neither message.
        if (isOwn && promotedId === undefined && opening.stateReason !== 'after') unheard = opening;
      }
    }
  }
  return { heard, unheard, takenBack };
}

/** Whether the message arrived, is on its way, or may have arrived. */
function hasLeft({ fate, maybeSent }: AlertDelivery): boolean {
  return fate === 'sent' || fate === 'digested' || fate === 'claimed' || (maybeSent && fate !== 'dead');
}

/** Whether a channel takes one message about beginning and end: paging channels do not page for an alert that is over, and Alertmanager has no such message. */
export function hearsOfBoth({ type, sendRecovered, isAlertmanager }: RoutedChannel): boolean {
  return !isAlertmanager && (type !== 'paging' || sendRecovered);
}

function isShared(
  writing: MessageWriting,
  closing: AlertRecord,
  { streamId, channelUid }: AlertDelivery,
): Promise<boolean> {
  return isStreamShared(writing.tx, { streamId, channelUid, alertId: closing.id });
}

/** The place of the message that had not left, which the one message about both takes. */
interface Place {
  readonly streamId: string;
  readonly state: 'ready' | 'parked';
  readonly nextAt: number;
  readonly held?: HeldBefore | undefined;
  readonly awaitsEvidence?: boolean | undefined;
}

function placeOf({ streamId, fate, nextAt, stateReason, attempts }: AlertDelivery, now: number): Place {
  if (fate === 'parked') return { streamId, state: 'parked', nextAt: now };
  const dueAt = fate === 'ready' ? Math.max(now, nextAt ?? now) : now;
  const awaitsEvidence = fate === 'ready' && stateReason === undefined && attempts === 0 && dueAt > now;
  return { streamId, state: 'ready', nextAt: dueAt, awaitsEvidence };
}

/** Writes the one message about the beginning and the end. Undefined: it was written before. */
async function tellBoth(
  writing: MessageWriting,
  closing: AlertRecord,
  channel: RoutedChannel,
  { streamId, state, nextAt, held, awaitsEvidence }: Place,
): Promise<string | undefined> {
  const id = await queue(writing, closing, {
    kind: 'closing',
    isFirstNotice: true,
    held,
    evidence: await evidenceOf(writing, closing),
    awaitsEvidence,
    channel,
    streamId,
    collapseKey: undefined,
    state,
    mergedInto: undefined,
    nextAt,
  });
  if (id !== undefined) {
    decide(writing, closing, { action: 'queued', reason: firstNoticeCause, deliveryId: id, channelUid: channel.uid });
  }
  return id;
}

/** Writes the closing for a channel that was told. */
async function tellOver(
  writing: MessageWriting,
  closing: AlertRecord,
  channel: RoutedChannel,
  heard: AlertDelivery,
): Promise<boolean> {
  const { uid: channelUid, name, sendResolved } = channel;
  if (!sendResolved) {
    decide(writing, closing, { action: 'notRouted', reason: 'sendResolved', channelUid });
    return false;
  }
  const shared = await isShared(writing, closing, heard);
  const mergedInto = shared ? (heard.mergedInto ?? heard.id) : undefined;
  const id = await queue(writing, closing, {
    kind: 'closing',
    held: undefined,
    channel,
    streamId: heard.streamId,
    collapseKey: undefined,
    state: shared ? (heard.fate === 'digested' ? 'digested' : 'collapsed') : 'ready',
    mergedInto,
    nextAt: writing.now,
  });
  if (id === undefined) return false;
  const of = { deliveryId: id, channelUid };
  if (shared) {
    decide(writing, closing, { ...of, action: 'collapsed', reason: 'stream', detail: mergedInto });
    writing.unsent.push({ channel: name, kind: 'closing', result: 'collapsed' });
  } else decide(writing, closing, { ...of, action: 'queued', reason: 'closing' });
  return true;
}
