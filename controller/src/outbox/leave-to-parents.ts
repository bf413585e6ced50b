import { holdingParent, refText, type Instant, type ParentAlert } from '@cronjob-monitor/shared/domain';
import {
  findHeldForParents,
  hasDependencies,
  listBeingTold,
  listParentAlerts,
  lockDependentMessages,
  updateLookedAt,
  type Tx,
  type UntoldMessage,
} from '@cronjob-monitor/shared/store';
import { takeBack, type TakenBack } from './take-back.ts';

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
    // A few at once; they share a connection. What was held for a parent before was asked about that when it was let go.
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
