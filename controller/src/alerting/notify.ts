import type { DeliveryKind } from '@cronjob-monitor/shared/contract';
import {
  collapseKeyOf,
  digestDueAt,
  gather,
  dedupKeyOf,
  evidenceWaitMs,
  toAlertFacts,
  toMessageEvidence,
  type AlertFinding,
  type AlertNotice,
  type AlertRecord,
  type Decision,
  type Instant,
  type MessageEvidence,
  type ToldTo,
} from '@cronjob-monitor/shared/domain';
import {
  afterCause,
  closeScopes,
  findOpenDigest,
  findStreamEnd,
  findTwin,
  foldLesserTwins,
  firstNoticeCause,
  insertDelivery,
  insertDigest,
  keptMs,
  listDeliveriesOfAlert,
  listEvidence,
  newChannelCause,
  newId,
  updateCancelled,
  updateJoined,
  type AlertDecision,
  type AlertDelivery,
  type NewDelivery,
  type RoutedChannel,
  type Tx,
} from '@cronjob-monitor/shared/store';
import type { FreezeMessage, MessageRequest } from './freeze.ts';

/** The messages of one step on their way into rows. */
export interface MessageWriting {
  readonly tx: Tx;
  /** One instant for all rows of a transaction. */
  readonly now: Instant;
  readonly finding: AlertFinding;
  readonly channels: ReadonlyMap<string, RoutedChannel>;
  readonly freeze: FreezeMessage;
  /** Takes messages of a new alert, for which no row has to be read; undefined: rows have to be read. */
  readonly addUnasked: ((delivery: NewDelivery) => void) | undefined;
  /** Written with the alert, in this order. */
  readonly decisions: AlertDecision[];
  readonly unsent: UnsentMessage[];
}

/** A message that was written and is over without a send. */
export interface UnsentMessage {
  /** Its name. */
  readonly channel: string;
  readonly kind: DeliveryKind;
  readonly result: 'collapsed' | 'cancelled';
}

export function decide(
  { decisions, finding }: MessageWriting,
  alert: AlertRecord,
  decision: Decision & Pick<AlertDecision, 'deliveryId' | 'channelUid'>,
): void {
  decisions.push({ ...decision, alertId: alert.id, cronJobId: finding.cronJob.id });
}

type Opening = Extract<AlertNotice, { readonly channels: unknown }>;

/** One decision to tell: a message for each of its channels. */
export async function notify(writing: MessageWriting, alert: AlertRecord, opening: Opening): Promise<void> {
  const evidence = await evidenceOf(writing, alert);
  // Before the first decision to tell there are no messages.
  const before = alert.notifyNo > 1 ? await listDeliveriesOfAlert(writing.tx, alert.id) : [];
  for (const { name, afterMs, foldBy } of opening.channels) {
    const channel = writing.channels.get(name);
    if (channel === undefined) continue;
    const onChannel = before.filter(({ channelUid }) => channelUid === channel.uid);
    const turn = await turnOf(writing, alert, { afterMs, kind: opening.kind, onChannel });
    if (turn === 'notYet') continue;
    const own = onChannel.findLast(({ state }) => state !== 'cancelled');
    await notifyChannel(writing, alert, channel, { opening, evidence, own, turn, foldBy });
  }
}

/**
 * The turn of a channel that is told after a delay; undefined once the channel was told of this alert, which is told at once from then on. A
 * waiting message keeps its own time; a reminder goes only to channels that were told. A message that an acknowledgement cancelled asks again
 * whether the alert is acknowledged.
 */
async function turnOf(
  writing: MessageWriting,
  alert: AlertRecord,
  of: { readonly afterMs: number; readonly kind: Opening['kind']; readonly onChannel: readonly AlertDelivery[] },
): Promise<Turn | 'notYet' | undefined> {
  if (of.afterMs === 0) return undefined;
  const { tx, now } = writing;
  const last = of.onChannel.findLast(({ createdAt }) => createdAt >= (alert.activatedAt ?? 0));
  if (last === undefined) return { dueAt: now + of.afterMs };
  if (last.state === 'cancelled') return of.kind === 'reminder' ? 'notYet' : { dueAt: now };
  if (last.state !== 'ready' || last.stateReason !== 'after' || last.nextAt === undefined) return undefined;
  if (of.kind === 'reminder' || !(await updateCancelled(tx, last.id, now)).cancelled) return 'notYet';
  const { id: deliveryId, channelUid } = last;
  decide(writing, alert, { deliveryId, channelUid, action: 'cancelled', reason: 'superseded' });
  writing.unsent.push({ channel: last.channelName, kind: last.kind, result: 'cancelled' });
  return { dueAt: Math.max(now, last.nextAt) };
}

interface Turn {
  readonly dueAt: Instant;
}

/**
 * The evidence that the alert stores of its current run. Most alerts have none at their first message, and then the database is not asked.
 * Evidence of an earlier run of the same alert is left out.
 */
export async function evidenceOf(
  { tx }: MessageWriting,
  { id, context }: AlertRecord,
): Promise<MessageEvidence | undefined> {
  const { hasLogs, hasEvents, podStatus, place, evidenceOf: run, jobUid } = toAlertFacts(context);
  const isKept = hasLogs === true || hasEvents === true || podStatus !== undefined;
  return isKept && run === jobUid ? toMessageEvidence(await listEvidence(tx, id), place?.container) : undefined;
}

async function notifyChannel(
  writing: MessageWriting,
  alert: AlertRecord,
  channel: RoutedChannel,
  of: {
    readonly opening: Opening;
    readonly evidence: MessageEvidence | undefined;
    /** The last message about the alert on this channel. */
    readonly own: AlertDelivery | undefined;
    /** Undefined: at once. */
    readonly turn: Turn | undefined;
    readonly foldBy: ToldTo['foldBy'];
  },
): Promise<void> {
  const { tx, now, finding, unsent } = writing;
  const { opening, evidence, own, turn, foldBy } = of;
  const { kind, reason, held, awaited } = opening;
  const { cronJob, type, subject, rules } = finding;
  const collapseKey = collapseKeyOf(channel.uid, { cronJobUid: cronJob.uid, type, subject });
  // A message of the other alert from before our own last one does not tell what is new since.
  const after = Math.max(now - rules.suppressDuplicatesForMs, own?.createdAt ?? 0);
  const twin =
    writing.addUnasked || turn
      ? undefined
      : await findTwin(tx, { collapseKey, alertId: alert.id, severity: alert.severity, after });
  const digest = twin || turn ? undefined : await enterScope(tx, channel, foldBy);
  const streamId = digest?.id ?? twin?.streamId ?? (own && own.kind !== 'closing' ? own.streamId : alert.id);
  const id = await queue(writing, alert, {
    kind,
    held,
    evidence,
    channel,
    digest,
    streamId,
    collapseKey,
    state: twin ? 'collapsed' : 'ready',
    mergedInto: twin?.id,
    nextAt: turn?.dueAt ?? digest?.dueAt ?? (awaited ? now + evidenceWaitMs(channel, awaited.messageWaitMs) : now),
    isTurn: turn !== undefined,
    isNew: reason === 'newChannel',
  });
  if (id === undefined) return;
  const message = { deliveryId: id, channelUid: channel.uid };
  if (twin) {
    decide(writing, alert, { ...message, action: 'collapsed', reason: 'twin', detail: twin.id });
    unsent.push({ channel: channel.name, kind, result: 'collapsed' });
  } else if (turn) decide(writing, alert, { ...message, action: 'queued', reason: 'after', untilAt: turn.dueAt });
  else if (digest) decide(writing, alert, { ...message, action: 'queued', reason: 'scope', untilAt: digest.dueAt });
  else {
    decide(writing, alert, { ...message, action: 'queued', reason: reason ?? kind });
    if (alert.severity === 'critical' && !writing.addUnasked)
      await foldLesser(
        writing,
        alert,
        { collapseKey, after, into: { id, streamId, channelUid: channel.uid } },
        channel.name,
      );
  }
}

/** Folds the warnings of other monitors about the same fault into this message. */
async function foldLesser(
  { tx, decisions, finding, unsent }: MessageWriting,
  { id: alertId }: AlertRecord,
  of: Omit<Parameters<typeof foldLesserTwins>[1], 'alertId'>,
  channel: string,
): Promise<void> {
  const { id: detail, channelUid } = of.into;
  for (const { id: deliveryId, alertId: folded, kind } of await foldLesserTwins(tx, { ...of, alertId })) {
    const { id: cronJobId } = finding.cronJob;
    decisions.push({ alertId: folded, cronJobId, deliveryId, channelUid, action: 'collapsed', reason: 'twin', detail });
    unsent.push({ channel, kind, result: 'collapsed' });
  }
}

/** The digest that a message joins or opens, and when that digest leaves next; undefined: the message goes alone. */
async function enterScope(
  tx: Tx,
  channel: RoutedChannel,
  foldBy: ToldTo['foldBy'],
): Promise<{ readonly id: string; readonly dueAt: Instant } | undefined> {
  if (foldBy === undefined) return undefined;
  const now = tx.now();
  const of = { cause: 'scope', key: `${foldBy.cause} ${foldBy.scope}`, channelUid: channel.uid } as const;
  const last = await findOpenDigest(tx, of);
  if (last) await closeScopes(tx, last.id);
  const open = last && (await findOpenDigest(tx, of));
  const answer = gather({ cause: 'scope', foldBy, channel }, open);
  if (answer === 'alone') return undefined;
  const digest = open ?? (await insertDigest(tx, { ...of, id: newId(now), total: 0, isOver: false, isTold: false }));
  await updateJoined(tx, digest.id, 1);
  return { id: digest.id, dueAt: digestDueAt(digest, now) };
}

/** Writes one message of a decision to tell. Undefined: it was written before. */
export async function queue(
  writing: MessageWriting,
  alert: AlertRecord,
  of: Pick<NewDelivery, 'streamId' | 'collapseKey' | 'state' | 'mergedInto'> &
    Pick<MessageRequest, 'kind' | 'held' | 'evidence' | 'isFirstNotice' | 'awaitsEvidence'> & {
      readonly channel: RoutedChannel;
      readonly nextAt: Instant;
      /** The message waits in a digest. */
      readonly digest?: { readonly id: string } | undefined;
      /** The message waits for its turn after other channels. */
      readonly isTurn?: boolean | undefined;
      /** The monitor named the channel after other channels were told. */
      readonly isNew?: boolean | undefined;
    },
): Promise<string | undefined> {
  const { tx, now, finding, freeze } = writing;
  // A digest's stream holds messages of other alerts, so their rows have to be read.
  const addUnasked = of.digest ? undefined : writing.addUnasked;
  const { kind, held, evidence, isFirstNotice, awaitsEvidence, channel, streamId } = of;
  const end = addUnasked ? beginning : await findStreamEnd(tx, streamId, channel.uid);
  const said = { kind, held, evidence, isFirstNotice, awaitsEvidence };
  const frozen = freeze({ ...said, alert, finding, notification: alert.notifyNo, at: now });
  const id = newId(now);
  const delivery: NewDelivery = {
    id,
    streamId,
    seq: end.nextSeq,
    alertId: alert.id,
    digestId: of.digest?.id ?? alert.digestId,
    channel,
    kind,
    cause: isFirstNotice ? firstNoticeCause : causeOf(of),
    severity: alert.severity,
    state: of.state,
    dedupKey: dedupKeyOf({ alertId: alert.id, kind, notifyNo: alert.notifyNo, channelUid: channel.uid }),
    collapseKey: of.collapseKey,
    mergedInto: of.mergedInto,
    notifyNo: alert.notifyNo,
    nextAt: of.nextAt,
    stateReason: of.isTurn && of.nextAt > now ? 'after' : of.digest ? 'scope' : undefined,
    createdAt: now,
    expiresAt: Math.max(now, of.isTurn ? of.nextAt : now) + keptMs(alert.severity),
    // The heading of a stream is that of its first message.
    payload: { ...frozen, heading: end.heading ?? frozen.heading },
  };
  if (addUnasked) addUnasked(delivery);
  return addUnasked || (await insertDelivery(tx, delivery)) ? id : undefined;
}

function causeOf({ isTurn, digest, isNew }: Pick<Parameters<typeof queue>[2], 'isTurn' | 'digest' | 'isNew'>) {
  if (isTurn) return afterCause;
  if (digest) return 'scope';
  return isNew ? newChannelCause : undefined;
}

/** The end of an empty stream. */
const beginning: Awaited<ReturnType<typeof findStreamEnd>> = { nextSeq: 1, heading: undefined };
