import {
  isOlder,
  otherInstallationOf,
  type Installation,
  type Instant,
  type Problem,
  type StatusMark,
} from '@cronjob-monitor/shared/domain';
import type { StatusWriter, Cluster } from '@cronjob-monitor/shared/kube';
import { type Clock, withinLimit } from '@cronjob-monitor/shared/process';
import {
  findClusterState,
  findInstalledAt,
  listHeartbeats,
  putClusterState,
  type Store,
  findLeaderBeat,
  type LeaderBeat,
} from '@cronjob-monitor/shared/store';

/** Looks whether another installation of the service works on the same cluster: both would judge, send and write statuses. */
interface Installations {
  /** Reads when our database was made, which gives us our age; and whose Lease it is. Throws `StoreError` while the database is away. */
  learn(): Promise<void>;
  /** Before a leader gives way: its next process knows from the beginning that the other one is no earlier life of its own. */
  remember(epoch: number): Promise<void>;
  /** What our statuses say of us; undefined before the first `learn`. */
  writtenBy(): StatusWriter | undefined;
  /** Why this one may not work: an older one is there. Undefined: it may. */
  refusal(): string | undefined;
  problems(): Problem[];
}

/** Thousands of monitors are not looked through at each question. */
const keptMs = 2_000;
/** So many others are remembered. */
const mostMet = 10;

export function createInstallations(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly foreign: Pick<ForeignLeader, 'learn' | 'refusal'>;
  /** `cluster.shared-with-another`: the service does not look for the other one. */
  readonly isShared: boolean;
  /** Our namespace, or our host outside of a cluster. */
  readonly name: string;
  readonly startedAt: Instant;
  /** Monitors as they are seen now. */
  readonly monitors: () => Iterable<{ readonly status: unknown }>;
  /** The holder of our Lease, as last seen; undefined without an election. */
  readonly leaseHolder: () => string | undefined;
  /** The same, when it is this replica. */
  readonly identity: string;
  readonly leaseMs: number;
}): Installations {
  const { store, clock, name, identity } = deps;
  let sinceAt: Instant | undefined;
  let met: ReadonlySet<Instant> | undefined;
  let kept: { readonly atMs: number; readonly other: Installation | undefined } | undefined;
  /** A holder of our Lease that our database does not know, and since when. */
  let stranger: { readonly holder: string; readonly sinceMs: number } | undefined;

  function other(): Installation | undefined {
    if (deps.isShared || sinceAt === undefined) return undefined;
    const nowMs = clock.monotonicMs();
    if (!kept || nowMs - kept.atMs >= keptMs) {
      const own = { name, sinceAt, startedAt: deps.startedAt, met: met ?? new Set() };
      kept = { atMs: nowMs, other: otherInstallationOf(marksOf(deps.monitors()), own, clock.now()) };
    }
    return kept.other;
  }

  async function findStranger(): Promise<void> {
    const holder = deps.leaseHolder();
    if (holder === undefined || holder === identity) return void (stranger = undefined);
    const isKnown = (await listHeartbeats(store)).some((beat) => beat.holder === holder);
    if (isKnown) stranger = undefined;
    else if (stranger?.holder !== holder) stranger = { holder, sinceMs: clock.monotonicMs() };
  }

  function refusal(): string | undefined {
    const foreign = deps.foreign.refusal();
    if (foreign !== undefined) return foreign;
    const found = other();
    if (found && sinceAt !== undefined && isOlder(found, { name, sinceAt })) return watchedBy(found);
    // A replica that is new has a heartbeat within a third of the lease time.
    const isStrange = stranger !== undefined && clock.monotonicMs() - stranger.sinceMs >= 2 * deps.leaseMs;
    return isStrange && stranger !== undefined && !deps.isShared ? heldBy(stranger.holder) : undefined;
  }

  return {
    async learn() {
      met ??= toMet(await findClusterState(store, 'otherInstallation'));
      sinceAt ??= await findInstalledAt(store);
      await findStranger();
      await deps.foreign.learn();
      // What follows decides by what is seen now, and not by what a probe asked for a moment ago.
      kept = undefined;
    },
    async remember(epoch) {
      const found = other();
      if (!found) return;
      met = new Set([...(met ?? []), found.sinceAt]);
      const stored = [...met].slice(-mostMet);
      await store.fenced(epoch, (tx) => putClusterState(tx, 'otherInstallation', stored));
    },
    writtenBy: () =>
      sinceAt === undefined ? undefined : { installation: name, since: new Date(sinceAt).toISOString() },
    refusal,
    problems() {
      const why = refusal();
      if (why !== undefined)
        return [{ key: 'another installation', cause: 'secondInstallation', sentence: why, blocks: true }];
      const found = other();
      return found
        ? [{ key: 'another installation', cause: 'secondInstallation', sentence: watchedBy(found), blocks: false }]
        : [];
    },
  };
}

function toMet(stored: unknown): ReadonlySet<Instant> {
  return new Set(Array.isArray(stored) ? stored.filter((at) => typeof at === 'number') : []);
}

function watchedBy({ name, sinceAt }: Installation): string {
  const since = new Date(sinceAt).toISOString();
  return `another installation, "${name}" (its database is of ${since}), watches this cluster too: remove one of the two, or set cluster.shared-with-another: true in both`;
}

function heldBy(holder: string): string {
  return `the Lease of this installation is held by "${holder}", which works on another database: remove one of the two installations, or give each a namespace of its own (leader-election.namespace)`;
}

function* marksOf(monitors: Iterable<{ readonly status: unknown }>): Generator<StatusMark> {
  for (const { status } of monitors) {
    const mark = toMark(status);
    if (mark) yield mark;
  }
}

/** As the API server sent it: another release, or a person, may have written anything. */
function toMark(status: unknown): StatusMark | undefined {
  const { writtenBy, lastReconcileTime } = (status ?? {}) as { writtenBy?: unknown; lastReconcileTime?: unknown };
  if (typeof writtenBy !== 'object' || writtenBy === null) return undefined;
  const { installation, since } = writtenBy as { installation?: unknown; since?: unknown };
  const [sinceAt, writtenAt] = [Date.parse(String(since)), Date.parse(String(lastReconcileTime))];
  if (typeof installation !== 'string' || Number.isNaN(sinceAt) || Number.isNaN(writtenAt)) return undefined;
  return { name: installation, sinceAt, writtenAt };
}

const asksWithinMs = 2_000;
const asksAgainAfterMs = 10_000;
/** A leader that was killed or cut off may come back within this time; one that ends in order says that it leads no more. */
const expectedForMs = 10 * 60_000;

/**
 * Looks whether the controller of another cluster leads on our tables. Each cluster has an election of its own, so that both would lead: they would
 * take the epoch from each other, and write the runs of two clusters into one history.
 */
export class ForeignLeader {
  readonly #store: Store;
  readonly #cluster: Pick<Cluster, 'clusterUid'>;
  readonly #clock: Clock;
  readonly #identity: string;
  #uid: string | undefined;
  #askedMs = -Infinity;
  #found: LeaderBeat | undefined;

  constructor(of: {
    readonly store: Store;
    readonly cluster: Pick<Cluster, 'clusterUid'>;
    readonly clock: Clock;
    readonly identity: string;
  }) {
    this.#store = of.store;
    this.#cluster = of.cluster;
    this.#clock = of.clock;
    this.#identity = of.identity;
  }

  /** What the heartbeat of this replica says: the UID of the namespace kube-system, once the cluster has told it. */
  get mark(): { readonly clusterUid?: string } {
    return this.#uid === undefined ? {} : { clusterUid: this.#uid };
  }

  /** Reads who leads; where the cluster does not tell its UID, nothing is found. Throws `StoreError`. */
  async learn(): Promise<void> {
    await this.#askUid();
    const leader = await findLeaderBeat(this.#store);
    this.#found = leader && leader.holder !== this.#identity && this.#isForeign(leader) ? leader : undefined;
  }

  /** Why this replica may not lead; undefined: it may. */
  refusal(): string | undefined {
    if (!this.#found) return undefined;
    const { holder, beatAt } = this.#found;
    const [last, until] = [beatAt, beatAt + expectedForMs].map((at) => new Date(at).toISOString());
    return `the controller of another cluster ("${holder}", seen last at ${last}) leads on the tables of this database: give each cluster a schema of its own (storage.postgres.schema, storage.mysql.database); where this cluster replaces that one, stop the other controller or wait until ${until}`;
  }

  #isForeign({ beatAt, clusterUid }: LeaderBeat): boolean {
    const areKnown = clusterUid !== undefined && this.#uid !== undefined;
    return areKnown && clusterUid !== this.#uid && this.#store.now() - beatAt < expectedForMs;
  }

  async #askUid(): Promise<void> {
    const clock = this.#clock;
    if (this.#uid !== undefined || clock.monotonicMs() - this.#askedMs < asksAgainAfterMs) return;
    this.#askedMs = clock.monotonicMs();
    const asking = withinLimit({ clock, ms: asksWithinMs }, (signal) => this.#cluster.clusterUid(signal));
    this.#uid = (await asking.catch(() => '')) || undefined;
  }
}
