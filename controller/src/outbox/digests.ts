import type { ChannelType, DeliveryKind } from '@cronjob-monitor/shared/contract';
import {
  digestBody,
  digestDueAt,
  gather,
  headingOf,
  isDigestOver,
  isLate,
  joinsStorms,
  routesOf,
  stormWindowMs,
  type AlertRules,
  type DigestCause,
  type DigestedAlert,
  type FrozenMessage,
  type Instant,
  type Message,
  type MessageHold,
  type OpenDigest,
} from '@cronjob-monitor/shared/domain';
import {
  cancelUnheard,
  closeScopes,
  findInstalledAt,
  foldScope,
  foldWaiting,
  insertDigest,
  insertDigestMessage,
  listGathered,
  listOpenDigests,
  listRoutedChannels,
  listStormEntries,
  listToldInDigest,
  newId,
  updateDigestOf,
  updateJoined,
  updateTold,
  updateToldInDigest,
  type ClaimedDelivery,
  type DigestTelling,
  type GatheredAlert,
  type RoutedChannel,
  type Store,
  type Tx,
} from '@cronjob-monitor/shared/store';
import { hearsOfBoth, type RaisedAlert } from '../alerting/index.ts';
import type { StageAnswer } from './stages.ts';

/** `clusterName`: `cluster.name`; `externalUrl`: `ui.external-url`. */
interface Words {
  readonly clusterName: string | undefined;
  readonly externalUrl: string | undefined;
}

interface DigestDeps extends Words {
  readonly store: Store;
  readonly epoch: number;
  /** `rate-limits.storm-threshold`; 0: no storms. */
  readonly threshold: number;
  /** How many CronJobs are watched. */
  readonly fleet: () => number;
  /** The CronJob controller of the cluster gives no sign of life. */
  readonly isControllerStale: () => boolean;
  /** What the monitor of an alert asks for now; undefined: it is gone, or cannot be read. */
  readonly rulesOf: (alerts: readonly GatheredAlert[]) => Promise<(alert: GatheredAlert) => AlertRules | undefined>;
}

/** A pass that ends without an answer, because its process did, is asked about again after so long. */
const askedWithinMs = 30_000;

/** One outage of the cluster is one message, whatever it makes fail. Kept in the database: a digest survives its leader. */
export interface Digests {
  /** The storm that an earlier leader left. */
  load(): Promise<void>;
  /**
   * What holds back messages while a pass over so many CronJobs goes on: the storm there is, or the question whether one begins, which is
   * answered at the end of the pass.
   */
  holdDuring(cronJobs: number, now: Instant): MessageHold | undefined;
  /** The pass is over. Returns the CronJobs that are told one by one after all. */
  settle(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]>;
  /** What holds back every message while the first pass over an empty database goes on. */
  holdFirst(now: Instant): MessageHold;
  /**
   * That pass is over: what began before the database was made is one digest for each channel. Returns the CronJobs that are told one by
   * one after all: what began later is no find, however late the pass was.
   */
  settleFirst(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]>;
  /** Says what has joined a storm since it was told, and ends one that nothing has entered for long enough. */
  tick(now: Instant): Promise<void>;
}

export function createDigests(deps: DigestDeps): Digests {
  return new KeptDigests(deps);
}

class KeptDigests implements Digests {
  readonly #deps: DigestDeps;
  #storm: OpenDigest | undefined;

  constructor(deps: DigestDeps) {
    this.#deps = deps;
  }

  async load(): Promise<void> {
    this.#storm = (await listOpenDigests(this.#deps.store)).find(({ cause }) => cause === 'storm');
  }

  holdDuring(cronJobs: number, now: Instant): MessageHold | undefined {
    if (this.#storm) return { reason: 'storm', untilAt: undefined, ref: this.#storm.id };
    const { threshold, isControllerStale } = this.#deps;
    const mayBegin = threshold > 0 && (cronJobs >= threshold || isControllerStale());
    return mayBegin ? this.holdFirst(now) : undefined;
  }

  holdFirst(now: Instant): MessageHold {
    return { reason: 'storm', untilAt: now + askedWithinMs, ref: undefined };
  }

  async settleFirst(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]> {
    const { store, epoch } = this.#deps;
    const bornAt = (await findInstalledAt(store)) ?? now;
    // Each as it is in the end: much of it had ended when it was found.
    const last = new Map(raised.map(({ alert }) => [alert.id, alert]));
    const begun = raised.flatMap(({ alert, before }) =>
      alert.state === 'active' && before !== 'active' ? (last.get(alert.id) ?? alert) : [],
    );
    const found = begun.filter(({ sinceAt }) => sinceAt < bornAt);
    const answer = gather({ cause: 'firstPass', found: found.length }, undefined);
    if (answer === 'alone') return cronJobsOf(begun);
    const id = newId(now);
    const rulesOf = await this.#deps.rulesOf(found);
    await store.fenced(epoch, async (tx) => {
      const of = {
        id,
        cause: 'firstPass',
        key: '',
        channelUid: undefined,
        total: found.length,
        isOver: true,
        isTold: true,
      } as const;
      const digest = await insertDigest(tx, of);
      // Nothing has gone out yet: what told both of their times, or that they come and go, is told here.
      await cancelUnheard(
        tx,
        found.map(({ id: ofAlert }) => ofAlert),
        now,
      );
      await this.#join(tx, digest, found);
      await this.#tell(tx, digest, 'begin', found, rulesOf);
    });
    return cronJobsOf(begun.filter((alert) => !found.includes(alert)));
  }

  async settle(raised: readonly RaisedAlert[], now: Instant): Promise<readonly number[]> {
    const { store, epoch, fleet, threshold, isControllerStale } = this.#deps;
    const entered = raised.flatMap(({ alert, before }) =>
      joinsStorms(alert) && alert.state === 'active' && before !== 'active' ? [alert] : [],
    );
    if (entered.length === 0) return [];
    const entries = await listStormEntries(store, now - stormWindowMs);
    const crowd = {
      entered: cronJobsOf(entries).length,
      fleet: fleet(),
      threshold,
      isControllerStale: isControllerStale(),
    };
    const answer = gather({ cause: 'storm', ...crowd }, this.#storm);
    if (answer === 'alone') return cronJobsOf(entered);
    const ids = new Set(entered.map(({ id }) => id));
    const children = entries.filter(({ id }) => ids.has(id));
    const rulesOf = await this.#deps.rulesOf(children);
    this.#storm = await store.fenced(epoch, async (tx) => {
      const of = {
        cause: 'storm',
        key: 'fleet',
        channelUid: undefined,
        total: 0,
        isOver: false,
        isTold: true,
      } as const;
      const digest = this.#storm ?? (await insertDigest(tx, { ...of, id: newId(now) }));
      await updateJoined(tx, digest.id, children.length);
      await this.#join(tx, digest, children);
      await this.#tell(tx, digest, 'begin', children, rulesOf);
      return { ...digest, lastEntryAt: tx.now() };
    });
    return [];
  }

  async tick(now: Instant): Promise<void> {
    const { store, epoch } = this.#deps;
    if ((await listOpenDigests(store)).some(({ cause }) => cause === 'scope'))
      await store.fenced(epoch, (tx) => closeScopes(tx));
    const digest = this.#storm;
    if (digest === undefined) return;
    const isOver = isDigestOver(digest, now);
    if (!isOver && now < digestDueAt(digest, digest.lastEntryAt)) return;
    const children = await listGathered(store, digest);
    const rulesOf = await this.#deps.rulesOf(children);
    this.#storm = await store.fenced(epoch, async (tx) => {
      const isTold = await this.#tell(tx, digest, isOver ? 'end' : `update ${digest.toldAt ?? 0}`, children, rulesOf);
      // With nothing to say, the next that joins is said at once.
      if (isOver || isTold) await updateTold(tx, digest.id, { isOver });
      return isOver ? undefined : { ...digest, toldAt: isTold ? tx.now() : digest.toldAt };
    });
  }

  async #join(tx: Tx, { id }: OpenDigest, children: readonly GatheredAlert[]): Promise<void> {
    await updateDigestOf(
      tx,
      children.map((child) => child.id),
      id,
    );
  }

  /**
   * One message for each channel that a child routes to, at once also to those that hear of one alert some time after the others; what is
   * told in one is owed no message of its own. A channel that was told of the digest hears of what joins it later with the next update.
   */
  async #tell(
    tx: Tx,
    digest: OpenDigest,
    phase: DigestTelling['phase'],
    children: readonly GatheredAlert[],
    rulesOf: (alert: GatheredAlert) => AlertRules | undefined,
  ): Promise<boolean> {
    const { id: digestId, cause } = digest;
    const channels = await listRoutedChannels(tx);
    const toldThere = await listToldInDigest(tx, digestId);
    const told = new Set<string>();
    for (const [channel, routed] of byChannel(children, channels, rulesOf)) {
      const before = toldThere.get(channel.uid);
      const isNew = ({ id }: GatheredAlert): boolean => before?.has(id) !== true;
      // At the end, all that still holds is named.
      const named = routed.filter((child) => isNew(child) || (phase === 'end' && child.endedAt === undefined));
      if (phase === 'begin' ? before !== undefined || named.length === 0 : phase !== 'end' && named.length === 0)
        continue;
      const alerts = named.map(toDigested);
      const alreadyTold = before?.size ?? 0;
      const payload = wordDigest(
        { id: digestId, cause, scope: null, ended: phase === 'end', before: alreadyTold, alerts },
        this.#deps,
      );
      const of = named.map((child) => ({
        alertId: child.id,
        cronJobId: child.cronJobId,
        notifyNo: child.notifyNo + 1,
        severity: child.severity,
        kind:
          child.endedAt !== undefined
            ? ('closing' as const)
            : isNew(child)
              ? ('firing' as const)
              : ('reminder' as const),
      }));
      const written = await insertDigestMessage(tx, { digestId, phase, cause, channel, children: of, payload });
      if (written !== undefined) for (const { id } of named) told.add(id);
    }
    await updateToldInDigest(tx, [...told]);
    return told.size > 0;
  }
}

function cronJobsOf(alerts: readonly { readonly cronJobId: number }[]): number[] {
  return [...new Set(alerts.map(({ cronJobId }) => cronJobId))];
}

/** What each channel hears of now. What has ended is no news to one that hears of no such thing. */
function byChannel(
  children: readonly GatheredAlert[],
  channels: ReadonlyMap<string, RoutedChannel>,
  rulesOf: (alert: GatheredAlert) => AlertRules | undefined,
): ReadonlyMap<RoutedChannel, readonly GatheredAlert[]> {
  const routed = new Map<RoutedChannel, GatheredAlert[]>();
  for (const child of children) {
    const routes = routesOf(rulesOf(child)?.alerting, child, (name) => channels.get(name));
    for (const { name } of 'told' in routes ? routes.told : []) {
      const channel = channels.get(name);
      if (channel === undefined) continue;
      const list = routed.get(channel) ?? [];
      routed.set(channel, list);
      if (child.endedAt === undefined || hearsOfBoth(channel)) list.push(child);
    }
  }
  return routed;
}

function toDigested(alert: GatheredAlert): DigestedAlert {
  const { id, type, subject, severity, state, namespace, cronJobName, sinceAt, endedAt } = alert;
  return {
    id,
    type,
    subject: subject ?? null,
    severity,
    namespace,
    name: cronJobName,
    since: new Date(sinceAt).toISOString(),
    state,
    endedAt: endedAt === undefined ? null : new Date(endedAt).toISOString(),
  };
}

/** One message that stands for many alerts, frozen. */
function wordDigest(
  digest: {
    /** Of the digest. */
    readonly id: string;
    readonly cause: DigestCause;
    readonly scope: string | null;
    readonly ended: boolean;
    /** How many alerts its channel has been told of in it before. */
    readonly before: number;
    readonly alerts: readonly DigestedAlert[];
  },
  { clusterName, externalUrl }: Words,
): FrozenMessage {
  const message: Message = {
    kind: 'digest',
    data: {
      cluster: clusterName ?? null,
      digest: { ...digest, ...digestBody(digest.alerts) },
      links: { alerts: externalUrl === undefined ? null : `${externalUrl.replace(/\/+$/, '')}/alerts` },
    },
  };
  return { message, heading: headingOf(message), place: null };
}

export interface FoldDigestDeps extends Words {
  readonly store: Store;
  readonly epoch: number;
  readonly claimedBy: string;
  /** Messages of a channel that go out in a digest: how many of each kind. */
  readonly onFolded: (channel: string, kinds: ReadonlyMap<DeliveryKind, number>) => void;
}

/**
 * When more wait for a channel's rate limit than it takes at once, one digest goes out in the place of all of them: it has the token of
 * the message that was claimed. So it is with what one fault of the cluster brought about, where its route asks for that.
 */
export async function foldDigest(
  delivery: ClaimedDelivery,
  channel: { readonly type: ChannelType; readonly burst: number },
  deps: FoldDigestDeps,
): Promise<StageAnswer<ClaimedDelivery>> {
  const { store } = deps;
  const { kind, heldBy } = delivery;
  // Of most messages it is clear without asking the database that they are not folded.
  const isOfAlert = kind !== 'test' && kind !== 'digest' && kind !== 'drill';
  const isOfScope = delivery.cause === 'scope' && isOfAlert && delivery.attempts === 1;
  const mayFold = channel.type !== 'paging' && isOfAlert && heldBy === 'rateLimit';
  if (!isOfScope && !(mayFold && isLate(delivery, store.now()))) return { kind: 'pass', value: delivery };
  const cause = isOfScope ? 'scope' : 'rateLimit';
  const folded = await store.fenced(deps.epoch, (tx) =>
    (isOfScope ? foldScope : foldWaiting)(tx, delivery, {
      claimedBy: deps.claimedBy,
      channel,
      freeze: (id, alerts, { scope = null, before }) =>
        wordDigest({ id, cause, scope, ended: false, before, alerts }, deps),
    }),
  );
  if (folded === undefined) return { kind: 'pass', value: delivery };
  deps.onFolded(delivery.channelName, folded.kinds);
  return { kind: 'pass', value: folded.digest };
}
