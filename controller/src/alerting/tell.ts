import {
  collapseKeyOf,
  dedupKeyOf,
  evidenceWaitMs,
  routesOf,
  toAlertFacts,
  toMessageEvidence,
  type Instant,
  type MessageEvidence,
  type MessageHold,
} from '@cronjob-monitor/shared/domain';
import {
  findStreamEnd,
  findTwin,
  firstNoticeCause,
  insertDelivery,
  listEvidence,
  newId,
  type AlertDelivery,
  type AlertRecord,
  type NewDelivery,
  type RoutedChannel,
} from '@cronjob-monitor/shared/store';
import type { AwaitedEvidence, HeldBefore, MessageRequest } from './finding.ts';
import { decide, type Turn } from './turn.ts';

const hourMs = 3_600_000;
/** When a hold that names no end is looked at again. */
const askAgainMs = 60_000;

export interface Telling {
  readonly kind: 'firing' | 'reminder' | 'flapping';
  /** In the ledger, where it is not the kind. */
  readonly reason?: 'changedError' | undefined;
  readonly held: HeldBefore | undefined;
  /** Evidence that is still being taken is waited for, so long as the channel does. */
  readonly awaited?: AwaitedEvidence | undefined;
  /** All messages about the alert so far. */
  readonly deliveries: readonly AlertDelivery[];
}

/** Its message is held back: `dueAt` of an active alert says that one is owed, and when it is looked at again. */
export function owe(turn: Turn, alert: AlertRecord, hold: MessageHold): AlertRecord {
  const { reason, untilAt, ref } = hold;
  decide(turn, alert, { action: 'held', reason, untilAt, detail: ref, once: true });
  return { ...alert, dueAt: untilAt ?? turn.now + askAgainMs };
}

/** One decision to tell: a message for each channel that takes the severity, written at once and sent later. */
export async function tell(turn: Turn, alert: AlertRecord, telling: Telling): Promise<AlertRecord> {
  const routes = routesOf(turn.finding.rules.alerting, alert.severity, (name) => turn.channels.has(name));
  for (const name of routes.unknown) {
    decide(turn, alert, { action: 'notRouted', reason: 'unknownChannel', detail: name });
  }
  const untold: AlertRecord = { ...alert, dueAt: undefined };
  if ('notRouted' in routes) {
    if (routes.notRouted !== 'unknownChannel') decide(turn, alert, { action: 'notRouted', reason: routes.notRouted });
    return untold;
  }
  const told: AlertRecord = { ...untold, notifyNo: alert.notifyNo + 1 };
  const evidence = await evidenceOf(turn, alert);
  for (const name of new Set(routes.told)) {
    const channel = turn.channels.get(name);
    // A few per monitor; they share a connection.
    if (channel) await tellChannel(turn, told, channel, { ...telling, evidence });
  }
  return told;
}

/**
 * What was kept with the alert of the run that it speaks of now; most have nothing when they are told first, and are not asked. What was
 * kept of an earlier run of the same alert is about that one.
 */
export async function evidenceOf({ tx }: Turn, { id, context }: AlertRecord): Promise<MessageEvidence | undefined> {
  const { hasLogs, hasEvents, podStatus, place, evidenceOf: run, jobUid } = toAlertFacts(context);
  const isKept = hasLogs === true || hasEvents === true || podStatus !== undefined;
  return isKept && run === jobUid ? toMessageEvidence(await listEvidence(tx, id), place?.container) : undefined;
}

async function tellChannel(
  turn: Turn,
  alert: AlertRecord,
  channel: RoutedChannel,
  telling: Telling & { readonly evidence: MessageEvidence | undefined },
): Promise<void> {
  const { now, finding } = turn;
  const own = telling.deliveries.findLast(
    ({ channelUid, state }) => channelUid === channel.uid && state !== 'cancelled',
  );
  const collapseKey = collapseKeyOf(channel.uid, {
    cronJobUid: finding.cronJob.uid,
    type: finding.type,
    subject: finding.subject,
  });
  const twin = await twinOf(turn, {
    collapseKey,
    alertId: alert.id,
    severity: alert.severity,
    // What it told before our own last message is no answer to what is new since.
    after: Math.max(now - finding.rules.suppressDuplicatesForMs, own?.createdAt ?? 0),
  });
  const streamId = twin?.streamId ?? (own && own.kind !== 'closing' ? own.streamId : alert.id);
  const id = await queue(turn, alert, {
    kind: telling.kind,
    held: telling.held,
    evidence: telling.evidence,
    channel,
    streamId,
    collapseKey,
    state: twin ? 'collapsed' : 'ready',
    mergedInto: twin?.id,
    nextAt: telling.awaited ? now + evidenceWaitMs(channel, telling.awaited.messageWaitMs) : now,
  });
  if (id === undefined) return;
  const of = { deliveryId: id, channelUid: channel.uid };
  if (twin) {
    decide(turn, alert, { ...of, action: 'collapsed', reason: 'twin', detail: twin.id });
    turn.unsent.push({ channel: channel.name, kind: telling.kind, result: 'collapsed' });
  } else decide(turn, alert, { ...of, action: 'queued', reason: telling.reason ?? telling.kind });
}

async function twinOf({ tx, births }: Turn, of: Parameters<typeof findTwin>[1]): ReturnType<typeof findTwin> {
  return births ? undefined : findTwin(tx, of);
}

/** Writes one message of a decision to tell. Undefined: it was written before. */
export async function queue(
  turn: Turn,
  alert: AlertRecord,
  of: Pick<NewDelivery, 'streamId' | 'collapseKey' | 'state' | 'mergedInto'> &
    Pick<MessageRequest, 'kind' | 'held' | 'evidence' | 'isFirstNotice' | 'awaitsEvidence'> & {
      readonly channel: RoutedChannel;
      readonly nextAt: Instant;
    },
): Promise<string | undefined> {
  const { tx, now, finding, deps, births } = turn;
  const { kind, held, evidence, isFirstNotice, awaitsEvidence, channel, streamId } = of;
  const end = births ? beginning : await findStreamEnd(tx, streamId, channel.uid);
  const said = { kind, held, evidence, isFirstNotice, awaitsEvidence };
  const frozen = deps.freeze({ ...said, alert, finding, notification: alert.notifyNo, at: now });
  const id = newId(now);
  const delivery: NewDelivery = {
    id,
    streamId,
    seq: end.nextSeq,
    alertId: alert.id,
    stormId: alert.stormId,
    channel,
    kind,
    cause: isFirstNotice ? firstNoticeCause : undefined,
    severity: alert.severity,
    state: of.state,
    dedupKey: dedupKeyOf({ alertId: alert.id, kind, notifyNo: alert.notifyNo, channelUid: channel.uid }),
    collapseKey: of.collapseKey,
    mergedInto: of.mergedInto,
    notifyNo: alert.notifyNo,
    nextAt: of.nextAt,
    createdAt: now,
    expiresAt: now + (alert.severity === 'critical' ? 72 : 24) * hourMs,
    // The heading of a stream is that of its first message.
    payload: { ...frozen, heading: end.heading ?? frozen.heading },
  };
  if (births) births.addDelivery(delivery);
  return births || (await insertDelivery(tx, delivery)) ? id : undefined;
}

/** Of a stream in which nothing was told yet. */
const beginning: Awaited<ReturnType<typeof findStreamEnd>> = { nextSeq: 1, heading: undefined };
