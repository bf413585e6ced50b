import type { Cluster } from '@cronjob-monitor/shared/kube';
import { withinLimit, type Clock } from '@cronjob-monitor/shared/process';
import { findLeaderBeat, type LeaderBeat, type Store } from '@cronjob-monitor/shared/store';

interface ForeignLeaderDeps {
  readonly store: Store;
  readonly cluster: Pick<Cluster, 'clusterUid'>;
  readonly clock: Clock;
  readonly identity: string;
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
  readonly #deps: ForeignLeaderDeps;
  #uid: string | undefined;
  #askedMs = -Infinity;
  #found: LeaderBeat | undefined;

  constructor(deps: ForeignLeaderDeps) {
    this.#deps = deps;
  }

  /** What the heartbeat of this replica says: the UID of the namespace kube-system, once the cluster has told it. */
  get mark(): { readonly clusterUid?: string } {
    return this.#uid === undefined ? {} : { clusterUid: this.#uid };
  }

  /** Reads who leads; where the cluster does not tell its UID, nothing is found. Throws `StoreError`. */
  async learn(): Promise<void> {
    await this.#askUid();
    const { store, identity } = this.#deps;
    const leader = await findLeaderBeat(store);
    this.#found = leader && leader.holder !== identity && this.#isForeign(leader) ? leader : undefined;
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
    return areKnown && clusterUid !== this.#uid && this.#deps.store.now() - beatAt < expectedForMs;
  }

  async #askUid(): Promise<void> {
    const { cluster, clock } = this.#deps;
    if (this.#uid !== undefined || clock.monotonicMs() - this.#askedMs < asksAgainAfterMs) return;
    this.#askedMs = clock.monotonicMs();
    const asking = withinLimit({ clock, ms: asksWithinMs }, (signal) => cluster.clusterUid(signal));
    this.#uid = (await asking.catch(() => '')) || undefined;
  }
}
