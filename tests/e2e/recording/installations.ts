import { setTimeout as wait } from 'node:timers/promises';
import type { Store } from '@cronjob-monitor/shared/store';
import { MonitorProcess, type EntryPoint } from '../../servers/index.ts';
import { testDatabases, type TestDatabase } from '../../store/databases.ts';
import type { Gap } from '../../faults/checker/expected-runs.ts';
import { openBeside } from '../../faults/checker/stored-runs.ts';

/** One service of the three: its database, its namespaces, its processes. */
export interface Service {
  readonly name: string;
  readonly namespaces: readonly string[];
  readonly replicas: readonly [MonitorProcess, ...MonitorProcess[]];
  readonly store: Store;
  readonly supervisor: Supervisor;
  /** When no process of it watched the cluster. */
  readonly gaps: Gap[];
}

/** Brings back a process that ends itself, as a cluster does with a container: one that lost its term has no other way. */
class Supervisor {
  readonly #replicas: readonly MonitorProcess[];
  /** Ended by a test, which starts them again itself. */
  readonly #resting = new Set<MonitorProcess>();
  readonly #ended = new AbortController();
  #watching: Promise<void> = Promise.resolve();
  /** How often it had to. */
  restarts = 0;

  constructor(replicas: readonly MonitorProcess[]) {
    this.#replicas = replicas;
  }

  start(): void {
    for (const replica of this.#replicas) replica.start();
    this.#watching = this.#watch();
  }

  /** SIGKILL; it stays down until `wake`. */
  async kill(replica: MonitorProcess): Promise<void> {
    this.#resting.add(replica);
    await replica.kill();
  }

  wake(replica: MonitorProcess): void {
    replica.start();
    this.#resting.delete(replica);
  }

  /** Leaves the processes alone. */
  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#watching;
  }

  async #watch(): Promise<void> {
    while (!this.#ended.signal.aborted) {
      for (const replica of this.#replicas) {
        if (replica.running || this.#resting.has(replica)) continue;
        this.restarts++;
        replica.start();
      }
      await wait(100, undefined, { signal: this.#ended.signal }).catch(() => {});
    }
  }
}

interface Plan {
  readonly database: TestDatabase['name'];
  readonly entryPoint: EntryPoint;
  readonly replicas: number;
}

/** SQLite has one process; PostgreSQL two that elect their leader; MariaDB one that elects itself. */
const plans: readonly Plan[] = [
  { database: 'sqlite', entryPoint: 'standalone', replicas: 1 },
  { database: 'postgres', entryPoint: 'controller', replicas: 2 },
  { database: 'mysql', entryPoint: 'controller', replicas: 1 },
];

export interface Services {
  readonly services: readonly Service[];
  /** One line for each database that is not here. */
  readonly skipped: readonly string[];
  remove(): Promise<void>;
}

/** Makes databases and processes, and starts none of the processes. */
export async function makeServices(kubeconfig: string): Promise<Services> {
  const databases = testDatabases();
  const services: Service[] = [];
  const skipped: string[] = [];
  for (const plan of plans) {
    const database = databases.find(({ name }) => name === plan.database);
    if (!database) continue;
    if (database.skip !== undefined) skipped.push(database.skip);
    else services.push(await makeService(plan, database, kubeconfig));
  }
  return {
    services,
    skipped,
    remove: async () => {
      for (const { replicas, store, supervisor } of services) {
        await supervisor.stop();
        for (const replica of replicas) await replica.remove();
        await store.close();
      }
      for (const database of databases) await database.remove();
    },
  };
}

async function makeService(plan: Plan, database: TestDatabase, kubeconfig: string): Promise<Service> {
  const settings = await database.fresh();
  const namespaces = [`${plan.database}-a`, `${plan.database}-b`];
  const electing = plan.entryPoint === 'controller';
  const prepare = (): Promise<MonitorProcess> =>
    MonitorProcess.prepare({
      entryPoint: plan.entryPoint,
      kubeconfig,
      storage: settings,
      config: {
        'cluster.watch-namespaces': namespaces.join(','),
        'leader-election.enabled': electing,
        ...(electing && { 'leader-election.namespace': namespaces[0] ?? '' }),
        'storage.log-storage-enabled': true,
        'storage.event-storage-enabled': true,
      },
    });
  const replicas: [MonitorProcess, ...MonitorProcess[]] = [await prepare()];
  while (replicas.length < plan.replicas) replicas.push(await prepare());
  return {
    name: plan.database,
    namespaces,
    replicas,
    store: openBeside(settings),
    supervisor: new Supervisor(replicas),
    gaps: [],
  };
}

/** The replica that leads now. */
export async function leaderOf(replicas: readonly MonitorProcess[]): Promise<MonitorProcess> {
  for (const replica of replicas) if ((await replica.metric('cronjob_monitor_leader')) === 1) return replica;
  throw new Error('no controller leads');
}
