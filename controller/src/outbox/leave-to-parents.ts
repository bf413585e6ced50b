import type { DeliveryKind } from '@cronjob-monitor/shared/contract';
import { askAgainMs, holdingParent, type Instant, type ParentAlert } from '@cronjob-monitor/shared/domain';
import {
  findHeldForParents,
  hasDependencies,
  listBeingTold,
  listDeliveriesOfAlert,
  listParentAlerts,
  lockDependentMessages,
  recordDecisions,
  updateCancelled,
  updateLookedAt,
  updateOwed,
  type DependentMessage,
  type Tx,
} from '@cronjob-monitor/shared/store';

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

/** A message that was taken back, for a parent was told. */
export interface LeftToParent {
  readonly alertId: string;
  readonly channel: string;
  readonly kind: DeliveryKind;
}

/**
 * Asks once more of messages about CronJobs that wait for others, before they leave: a parent may have failed with them, and be told by now.
 * Whichever of them was judged first, the message of the child is taken back and owed, as if it had been held at once (reach.md 12).
 */
export async function leaveToParents(tx: Tx): Promise<LeftToParent[]> {
  const left: LeftToParent[] = [];
  for (let look = 0; look < mostLooks; look++) {
    // Each look sees what the one before has left.
    const found = await lookOnce(tx);
    left.push(...found);
    if (found.length === 0) break;
  }
  return left;
}

async function lookOnce(tx: Tx): Promise<LeftToParent[]> {
  const due = await lockDependentMessages(tx);
  if (due.length === 0) return [];
  const now = tx.now();
  const parents = await listParentAlerts(tx, [...new Set(due.map(({ child }) => child))]);
  const untold = [...parents.values()].flatMap((alerts) => alerts.filter(({ toldAt }) => toldAt === undefined));
  const beingTold = await listBeingTold(tx, [...new Set(untold.map(({ id }) => id))]);
  const left: LeftToParent[] = [];
  const waiting: string[] = [];
  for (const messages of Map.groupBy(due, ({ alertId }) => alertId).values()) {
    const [message] = messages;
    if (message === undefined) continue;
    const known = parents.get(message.child) ?? [];
    // A few at once; they share a connection. What was held for a parent before was asked about that when it was let go.
    if (await findHeldForParents(tx, message.alertId, message.activatedAt)) continue;
    const holder = holdingParent(message, known);
    if (holder) left.push(...(await leaveTo(tx, message, holder, now)));
    else if (mayBeHeldSoon(message, known, beingTold, now)) waiting.push(...messages.map(({ id }) => id));
  }
  await updateLookedAt(tx, waiting, now + lookAgainMs);
  return left;
}

/** A parent is about to be told, or may be found to have failed as well. */
function mayBeHeldSoon(
  message: DependentMessage,
  parents: readonly ParentAlert[],
  beingTold: ReadonlySet<string>,
  now: Instant,
): boolean {
  const waitedMs = now - message.createdAt;
  if (message.isDelayed && waitedMs < judgedWithinMs) return true;
  const soon = parents.flatMap((parent) => (beingTold.has(parent.id) ? { ...parent, toldAt: now } : []));
  return waitedMs < patienceMs && holdingParent(message, soon) !== undefined;
}

async function leaveTo(
  tx: Tx,
  { alertId, cronJobId, activatedAt }: DependentMessage,
  holder: ParentAlert,
  now: Instant,
): Promise<LeftToParent[]> {
  const own = (await listDeliveriesOfAlert(tx, alertId)).filter(({ createdAt }) => createdAt >= activatedAt);
  // A channel has heard of it, or hears of it now: so do the others.
  if (own.some(({ fate, maybeSent }) => fate === 'sent' || fate === 'claimed' || maybeSent)) return [];
  const left: LeftToParent[] = [];
  const takenBack: string[] = [];
  for (const { id: deliveryId, state, kind, channelUid, channelName: channel } of own) {
    if (state !== 'ready' || (kind !== 'firing' && kind !== 'flapping')) continue;
    // One per channel; they share a connection.
    const { cancelled } = await updateCancelled(tx, deliveryId, now);
    if (!cancelled) continue;
    left.push({ alertId, channel, kind });
    takenBack.push(deliveryId);
    await recordDecisions(tx, [
      { action: 'cancelled', reason: 'dependsOn', alertId, cronJobId, deliveryId, channelUid, detail: holder.id },
    ]);
  }
  if (left.length === 0) return [];
  const isAll = own.every(({ id, state }) => state === 'cancelled' || takenBack.includes(id));
  await updateOwed(tx, { alertId, dueAt: now + askAgainMs, takenBack: isAll ? takenBack : [] });
  await recordDecisions(tx, [
    { action: 'held', reason: 'dependsOn', alertId, cronJobId, detail: holder.id, once: true },
  ]);
  return left;
}
