import type { DeliveryKind } from '@cronjob-monitor/shared/contract';
import {
  askAgainMs,
  holdingParent,
  type Instant,
  isInForce,
  matches,
  type MutableAlert,
  type ParentAlert,
  refText,
  silenceOf,
} from '@cronjob-monitor/shared/domain';
import {
  findHeldForParents,
  hasDependencies,
  listBeingTold,
  listDeliveriesOfAlert,
  listParentAlerts,
  listSilences,
  lockDependentMessages,
  lockWaitingMessages,
  recordDecisions,
  type Tx,
  type UntoldMessage,
  updateCancelled,
  updateLookedAt,
  updateOwed,
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
async function takeBack(
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

/** When each silence in force was edited last, by id. */
type SilencesSeen = ReadonlyMap<string, number>;

/**
 * A person silences what waits to be told, for the limit of its channel or for the channel itself: it is taken back before it leaves, and is
 * told when the silence ends, if it is so still. Asked of the silences that are not `seen`. Returns those of now, to be seen after the commit.
 */
export async function leaveToSilences(
  tx: Tx,
  seen: SilencesSeen,
): Promise<{ readonly left: readonly TakenBack[]; readonly seen: SilencesSeen }> {
  const now = tx.now();
  const inForce = (await listSilences(tx, now)).filter((silence) => isInForce(silence, now));
  const news = inForce.filter(({ id, updatedAt }) => seen.get(id) !== updatedAt);
  const left: TakenBack[] = [];
  // A message that is taken back may make way for that of another monitor, which is asked about too.
  for (let isMore = news.length > 0; isMore;) {
    const waiting = await lockWaitingMessages(tx, (message) =>
      news.some(({ matcher }) => matches(matcher, alertOf(message))),
    );
    const before = left.length;
    for (const message of new Map(waiting.map((one) => [one.alertId, one])).values()) {
      const silence = silenceOf(alertOf(message), inForce, now);
      if (silence) left.push(...(await takeBack(tx, message, { reason: 'silence', ref: silence.id })));
    }
    isMore = left.length > before;
  }
  return { left, seen: new Map(inForce.map(({ id, updatedAt }) => [id, updatedAt])) };
}

const alertOf = ({ alertId: id, cronJob, type, severity, monitor }: UntoldMessage): MutableAlert => ({
  id,
  namespace: cronJob.namespace,
  cronJobName: cronJob.name,
  type,
  severity,
  monitor,
});

/** So soon it is asked again whether a parent was told. */
const lookAgainMs = 1_000;
/** So long a message waits for one of a parent that is on its way: a channel that does not answer holds back no other. */
const patienceMs = 60_000;
/** What is found late is found together, in any order: so long parents have to be judged. */
const judgedWithinMs = 5_000;
/** A message that is taken back may make way for that of another monitor, which is asked about too. */
const mostLooks = 8;

/** Whether there is a CronJob that waits for others. While there is none, a claim need not ask each of its messages for parents. */
export class Dependents {
  #any: boolean | undefined;

  /** A CronJob waits for these. To be said before its row is written. */
  declared(parents: readonly string[]): void {
    if (parents.length > 0) this.#any = true;
  }

  /** Asks the rows once, for those that were written before this term. */
  async any(tx: Tx): Promise<boolean> {
    this.#any ??= await hasDependencies(tx);
    return this.#any;
  }
}

/**
 * Asks once more of messages about CronJobs that wait for others, before they leave: a parent may have failed with them, and be told by now.
 * Whichever of them was judged first, the message of the child is taken back and owed, as if it had been held at once (reach.md 12).
 */
export async function leaveToParents(tx: Tx): Promise<TakenBack[]> {
  const left: TakenBack[] = [];
  for (let look = 0; look < mostLooks; look++) {
    // Each look sees what the one before has left.
    const found = await lookOnce(tx);
    left.push(...found);
    if (found.length === 0) break;
  }
  return left;
}

async function lookOnce(tx: Tx): Promise<TakenBack[]> {
  const due = await lockDependentMessages(tx);
  if (due.length === 0) return [];
  const now = tx.now();
  const parents = await listParentAlerts(tx, [...new Set(due.map(childOf))]);
  const untold = [...parents.values()].flatMap((alerts) => alerts.filter(({ toldAt }) => toldAt === undefined));
  const beingTold = await listBeingTold(tx, [...new Set(untold.map(({ id }) => id))]);
  const left: TakenBack[] = [];
  const waiting: string[] = [];
  for (const messages of Map.groupBy(due, ({ alertId }) => alertId).values()) {
    const [message] = messages;
    if (message === undefined) continue;
    const known = parents.get(childOf(message)) ?? [];
    // A message that was held for a parent before was checked against that parent when it was released.
    if (await findHeldForParents(tx, message.alertId, message.activatedAt)) continue;
    const holder = holdingParent(message, known);
    if (holder) left.push(...(await takeBack(tx, message, { reason: 'dependsOn', ref: holder.id })));
    else if (mayBeHeldSoon(message, known, beingTold, now)) waiting.push(...messages.map(({ id }) => id));
  }
  await updateLookedAt(tx, waiting, now + lookAgainMs);
  return left;
}

/** A parent is about to be told, or may be found to have failed as well. */
function mayBeHeldSoon(
  message: UntoldMessage,
  parents: readonly ParentAlert[],
  beingTold: ReadonlySet<string>,
  now: Instant,
): boolean {
  const waitedMs = now - message.createdAt;
  if (message.isDelayed && waitedMs < judgedWithinMs) return true;
  const soon = parents.flatMap((parent) => (beingTold.has(parent.id) ? { ...parent, toldAt: now } : []));
  return waitedMs < patienceMs && holdingParent(message, soon) !== undefined;
}

const childOf = ({ cronJob }: UntoldMessage): string => refText(cronJob);
