import { createController, type Controller } from '@cronjob-monitor/controller';
import { controllerSettings, Registry } from '@cronjob-monitor/controller/testing';
import { ProblemList, type Logger } from '@cronjob-monitor/shared/process';
import { openStore, StoreError, type Store, type StoreSettings } from '@cronjob-monitor/shared/store';
import { WorldCluster, type Shared } from './world-cluster.ts';
import type { VirtualTime } from './virtual-time.ts';

export interface ReplicaDeps {
  readonly time: VirtualTime;
  readonly shared: Shared;
  readonly storage: StoreSettings;
  readonly identity: string;
  /** Two replicas take turns: by a Lease whose times are long, so that quiet time can be jumped over. */
  readonly elects: boolean;
  readonly logger: Logger;
  /** Namespaces that it watches; empty: all. */
  readonly watchNamespaces?: readonly string[] | undefined;
}

type Asked = (...args: unknown[]) => Promise<unknown>;

/** What of the client of a store goes to its server. */
interface Wire {
  acquireConnection: Asked;
  acquireRawConnection: Asked;
  destroyRawConnection: Asked;
  query: Asked;
}

/** A candidate waits for the lock of the leader as long as another process has it: time goes on meanwhile. */
const waitsForLock = /perform pg_advisory_lock|get_lock\(.*, [1-9]/;

/** One process of the service from its start to its end: the whole controller, on virtual time. */
export class Replica {
  readonly cluster: WorldCluster;
  readonly store: Store;
  /** Its metrics, as a scrape would read them. */
  readonly registry = new Registry();
  readonly #time: VirtualTime;
  readonly #controller: Controller;
  readonly #dead = new AbortController();
  readonly #background: Promise<unknown>[] = [];
  readonly #acquire: Asked;
  /** Connections beside the pool that are opened and closed, and statements: while one goes on, time stands still. */
  #onTheWay = 0;
  readonly identity: string;
  /** It ended itself, as a leader does that lost its term: the kubelet starts another one. */
  hasExited = false;
  #stopping: Promise<void> | undefined;
  #isAway = false;
  /** Something was written that may have changed what is due. */
  #hasWritten = true;
  #dueAt = Infinity;

  constructor({ time, shared, storage, identity, elects, logger, watchNamespaces = [] }: ReplicaDeps) {
    this.#time = time;
    this.identity = identity;
    const clock = time.clockUntil(this.#dead.signal);
    this.cluster = new WorldCluster(shared, this.#dead.signal);
    this.store = openStore(storage, { clock, log: logger });
    // The clock of a server is real: the service goes by its own, as it does with a file.
    (this.store.dialect as { now: Store['dialect']['now'] }).now = async () => undefined;
    const client = this.store.sql.client as Wire;
    this.#acquire = client.acquireConnection.bind(client);
    client.acquireRawConnection = this.#counted(client.acquireRawConnection.bind(client));
    client.destroyRawConnection = this.#counted(client.destroyRawConnection.bind(client));
    const query = client.query.bind(client);
    const countedQuery = this.#counted(query);
    client.query = (connection, statement) => {
      const { sql } = statement as { readonly sql: string };
      return (waitsForLock.test(sql) ? query : countedQuery)(connection, statement);
    };
    this.store.sql.on('query', ({ sql }: { readonly sql: string }) => {
      this.#hasWritten ||= /^(insert into|update) .?(alerts|deliveries)/.test(sql);
    });
    this.#controller = createController({
      settings: {
        ...controllerSettings,
        podName: identity.replace(/_.*/, ''),
        identity,
        ownNamespace: 'monitoring',
        watchNamespaces,
        reach: { ...controllerSettings.reach, watchNamespaces },
        secrets: { namespaces: ['monitoring'], labelled: [] },
        election: elects
          ? { namespace: 'monitoring', leaseMs: 150_000, renewDeadlineMs: 100_000, retryMs: 20_000 }
          : undefined,
        leaseMs: 900_000,
        schedulers: { ...controllerSettings.schedulers, deadManSwitchMs: 240_000, stuckJobCheckMs: 240_000 },
        globalLimit: { periodMs: 1, burst: 100_000 },
        stormThreshold: 0,
      },
      cluster: this.cluster,
      store: this.store,
      clock,
      logger,
      registry: this.registry,
      problems: new ProblemList({ clock, logger }),
      exit: () => {
        this.hasExited = true;
        this.#dead.abort();
      },
      background: (_name, work) => void this.#background.push(work.catch(() => {})),
    });
    this.#controller.start();
  }

  get isBusy(): boolean {
    if (this.#dead.signal.aborted || this.store.dialect.name === 'sqlite') return false;
    const { used, waiting } = this.store.connections();
    return used + waiting + this.#onTheWay > 0;
  }

  #counted(ask: Asked): Asked {
    return async (...args) => {
      this.#onTheWay++;
      try {
        return await ask(...args);
      } finally {
        this.#onTheWay--;
      }
    };
  }

  /** The other process is asked what is due: what this one wrote may be. */
  handWritten(to: Replica): void {
    to.#hasWritten ||= this.#hasWritten;
    this.#hasWritten = false;
  }

  /** When a delayed alert or a message is due; Infinity: nothing waits for an instant. */
  async nextDueAt(): Promise<number> {
    if (this.#isAway || this.#stopping || !this.#hasWritten) return this.#dueAt;
    try {
      const [alerts, messages]: Record<string, unknown>[][] = await Promise.all([
        this.store.sql('alerts').min('due_at as at'),
        this.store.sql('deliveries').min('next_at as at').whereIn('state', ['ready', 'claimed']),
      ]);
      const instants = [alerts?.[0]?.['at'], messages?.[0]?.['at']].map((at) => Number(at ?? Infinity));
      this.#dueAt = Math.min(...instants);
    } catch {
      this.#dueAt = Infinity; // there are no tables yet
    }
    this.#hasWritten = false;
    // What was written and is due at once is no quiet time: the polls of the outbox look.
    if (this.#dueAt <= this.#time.now) this.#time.stir();
    return this.#dueAt;
  }

  setDatabaseAway(isAway: boolean): void {
    this.#isAway = isAway;
    const client = this.store.sql.client as Wire;
    client.acquireConnection = isAway
      ? () => Promise.reject(new StoreError('unavailable', 'the database is away'))
      : this.#acquire;
  }

  get isEnding(): boolean {
    return this.#stopping !== undefined;
  }

  /** The end in order begins; it takes time, which others have to let pass before `ended`. */
  beginStop(): void {
    this.#stopping = this.#controller.stop();
  }

  /** Ends without a word; between two turns, when no transaction is open. */
  async kill(): Promise<void> {
    this.#dead.abort();
    await this.cluster.close();
    await this.store.close();
  }

  /** After `beginStop` and its time. */
  async ended(): Promise<void> {
    await this.#stopping;
    await this.kill();
  }
}
