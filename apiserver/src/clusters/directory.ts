import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  findSelfDescription,
  listSchemas,
  StoreError,
  type SelfDescription,
  type Store,
} from '@cronjob-monitor/shared/store';
import { joined } from '../live/joined.ts';
import { askInTurn, type Clusters, type ServedCluster } from '../routes/index.ts';

/** Between two looks for schemas that came or went, and for names that were changed. */
const lookEveryMs = 10_000;
/** An unknown name is looked for at once, but not by each request. */
const leastBetweenMs = 1_000;

/** Turns a schema of the server into a cluster that can be asked. */
interface ClusterMaker {
  /** Opens the schema; connects when first asked. */
  openStore(schema: string): Store;
  /** Wires a cluster around its store. `stop` ends what it began; the store is closed by the directory. */
  serve(found: FoundCluster, clusters: Clusters): { readonly cluster: ServedCluster; stop(): void };
}

export interface FoundCluster {
  readonly name: string;
  readonly schema: string;
  readonly store: Store;
  readonly said: SelfDescription;
}

interface Open {
  readonly store: Store;
  /** As it was when the cluster was wired: another name, zone or UID wires it anew. */
  wired: { readonly as: string; readonly cluster: ServedCluster; stop(): void } | undefined;
}

/**
 * Finds the clusters that share the database server with the own one, and keeps each of them ready to be asked. A schema that cannot be read
 * for a moment keeps what was known of it: it went only when the server no longer lists it.
 */
export class ClusterDirectory implements Clusters {
  readonly home: ServedCluster;
  readonly #make: ClusterMaker | undefined;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #open = new Map<string, Open>();
  readonly #look = joined(() => this.#lookNow());
  #lookedAtMs = -Infinity;
  #others: readonly ServedCluster[] = [];
  #isClosed = false;

  /** Without a maker the own cluster is the only one. */
  constructor(deps: {
    readonly serveHome: (clusters: Clusters) => ServedCluster;
    readonly make: ClusterMaker | undefined;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.home = deps.serveHome(this);
    this.#make = deps.make;
    this.#clock = deps.clock;
    this.#logger = deps.logger;
  }

  all(): readonly ServedCluster[] {
    return [this.home, ...this.#others];
  }

  async find(name: string): Promise<ServedCluster | undefined> {
    const known = this.all().find((cluster) => cluster.name === name);
    if (known || this.#clock.monotonicMs() - this.#lookedAtMs < leastBetweenMs) return known;
    await this.#look();
    return this.all().find((cluster) => cluster.name === name);
  }

  async run(signal: AbortSignal): Promise<void> {
    while (this.#make && !signal.aborted) {
      await this.#look();
      await this.#clock.sleep(lookEveryMs, signal).catch(() => {}); // aborted: the loop ends
    }
  }

  /** A look that goes on opens nothing any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#others = [];
    await Promise.all(open.map(closeOne));
  }

  async #lookNow(): Promise<void> {
    const make = this.#make;
    if (!make) return;
    try {
      const schemas = (await listSchemas(this.home.deps.store)).filter(({ isOwn }) => !isOwn);
      if (this.#isClosed) return;
      await this.#forgetAllBut(new Set(schemas.map(({ name }) => name)));
      const names = schemas.map(({ name }) => name);
      const said = await askInTurn(names, { clock: this.#clock }, (name) =>
        findSelfDescription(this.#openOne(make, name).store),
      );
      if (this.#isClosed) return;
      for (const [index, name] of names.entries()) {
        const one = said[index];
        if (one && 'answer' in one) this.#wire(make, name, one.answer);
      }
    } catch (error) {
      // The own database is away: readiness and health tell of it.
      if (!(error instanceof StoreError)) this.#logger.error('Looking for clusters failed', { failure: String(error) });
    }
    const wired = [...this.#open.values()].flatMap((one) => one.wired?.cluster ?? []);
    this.#others = wired.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    this.#lookedAtMs = this.#clock.monotonicMs();
  }

  #openOne(make: ClusterMaker, schema: string): Open {
    const one = this.#open.get(schema) ?? { store: make.openStore(schema), wired: undefined };
    this.#open.set(schema, one);
    return one;
  }

  #wire(make: ClusterMaker, schema: string, said: SelfDescription): void {
    const one = this.#openOne(make, schema);
    const name = this.#nameFor(said.name ?? schema, schema);
    const as = JSON.stringify([name, said]);
    if (one.wired?.as === as) return;
    one.wired?.stop();
    one.wired = { as, ...make.serve({ name, schema, store: one.store, said }, this) };
    this.#logger.info('A cluster of another schema is shown', { cluster: name, schema });
  }

  /** A name that another cluster has already is made another by the schema. */
  #nameFor(name: string, schema: string): string {
    const others = [...this.#open].flatMap(([of, { wired }]) => (of === schema ? [] : (wired?.cluster.name ?? [])));
    return name === this.home.name || others.includes(name) ? `${name} (${schema})` : name;
  }

  async #forgetAllBut(schemas: ReadonlySet<string>): Promise<void> {
    for (const [schema, one] of this.#open) {
      if (schemas.has(schema)) continue;
      this.#open.delete(schema);
      if (one.wired) this.#logger.info('A cluster is gone', { cluster: one.wired.cluster.name, schema });
      await closeOne(one);
    }
  }
}

async function closeOne({ wired, store }: Open): Promise<void> {
  wired?.stop();
  await store.close();
}
