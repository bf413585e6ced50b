import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { Clock } from '../clock.ts';

/** How the database and the API server do, as this process sees them. */
interface NeighbourMetrics {
  /** For what speaks to the API server: one call for each request. */
  readonly kubeAnswered: (answer: {
    readonly verb: string;
    readonly resource: string;
    /** Undefined: there was no answer. */
    readonly status: number | undefined;
    readonly tookMs: number;
  }) => void;
  /** For what speaks to the database. */
  readonly store: {
    statement(kind: 'read' | 'write'): (succeeded: boolean) => void;
    repeated(reason: string): void;
    schemaFound(version: number): void;
  };
  /** Reads at each scrape whether the database takes writes, and the room on the volume of its file. */
  watchVolume(volume: {
    /** Undefined: no file, or the system does not tell. */
    readonly freeBytes: () => number | undefined;
    /** Undefined: it cannot be asked now. */
    readonly isWritable: () => boolean | undefined;
  }): void;
  /** Reads the pool of the database at each scrape. */
  watchPool(connections: () => { readonly used: number; readonly idle: number; readonly waiting: number }): void;
}

/** The database is up while a query worked within this time. */
const upForMs = 30_000;

const querySeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const requestSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** kube_* and db_* of both tiers; their names begin with `cronjob_monitor_`. */
export function createNeighbourMetrics({
  registry,
  clock,
}: {
  readonly registry: Registry;
  readonly clock: Clock;
}): NeighbourMetrics {
  return {
    kubeAnswered: kubeMetrics(registry),
    store: storeMetrics(registry, clock),
    watchVolume: (volume) => registerVolume(registry, volume),
    watchPool: (connections) => registerPool(registry, connections),
  };
}

function kubeMetrics(registry: Registry): NeighbourMetrics['kubeAnswered'] {
  const registers = [registry];
  const requests = new Counter({
    name: 'cronjob_monitor_kube_requests_total',
    help: 'Requests to the API server by verb, resource and status; error is one without an answer.',
    labelNames: ['verb', 'resource', 'code'],
    registers,
  });
  const requestTime = new Histogram({
    name: 'cronjob_monitor_kube_request_seconds',
    help: 'Time to the end of an answer of the API server, of a watch or log to its beginning.',
    labelNames: ['verb', 'resource'],
    buckets: requestSeconds,
    registers,
  });
  return ({ verb, resource, status, tookMs }) => {
    requests.inc({ verb, resource, code: status === undefined ? 'error' : String(status) });
    requestTime.observe({ verb, resource }, tookMs / 1000);
  };
}

function storeMetrics(registry: Registry, clock: Clock): NeighbourMetrics['store'] {
  const registers = [registry];
  const retries = new Counter({
    name: 'cronjob_monitor_db_retries_total',
    help: 'Transactions that were run again or given up, by what stood in the way.',
    labelNames: ['reason'],
    registers,
  });
  const queryTime = new Histogram({
    name: 'cronjob_monitor_db_query_seconds',
    help: 'Time of one statement, the wait for a connection included.',
    labelNames: ['kind'],
    buckets: querySeconds,
    registers,
  });
  const schema = new Gauge({
    name: 'cronjob_monitor_db_schema_version',
    help: 'Version of the schema that was found.',
    registers,
  });
  schema.remove(); // a gauge without labels begins at 0, and nothing was found yet
  let workedAtMs: number | undefined;
  registry.registerMetric(
    new Gauge({
      name: 'cronjob_monitor_db_up',
      help: '1 when a statement worked within the last 30 s.',
      registers: [],
      collect() {
        this.set(workedAtMs !== undefined && clock.monotonicMs() - workedAtMs <= upForMs ? 1 : 0);
      },
    }),
  );
  return {
    statement: (kind) => {
      const beganMs = clock.monotonicMs();
      return (succeeded) => {
        const nowMs = clock.monotonicMs();
        queryTime.observe({ kind }, (nowMs - beganMs) / 1000);
        if (succeeded) workedAtMs = nowMs;
      };
    },
    repeated: (reason) => retries.inc({ reason }),
    schemaFound: (version) => schema.set(version),
  };
}

function registerVolume(
  registry: Registry,
  { freeBytes, isWritable }: Parameters<NeighbourMetrics['watchVolume']>[0],
): void {
  registry.registerMetric(
    optionalGauge(
      'cronjob_monitor_storage_volume_free_bytes',
      'Room on the volume of the database file that the service may take; absent with a database server.',
      freeBytes,
    ),
  );
  registry.registerMetric(
    optionalGauge(
      'cronjob_monitor_storage_writable',
      '1 while the database takes writes, 0 when its volume is full or it is read-only; absent while it does not answer.',
      () => {
        const writable = isWritable();
        return writable === undefined ? undefined : Number(writable);
      },
    ),
  );
}

function registerPool(registry: Registry, connections: Parameters<NeighbourMetrics['watchPool']>[0]): void {
  const pool = new Gauge({
    name: 'cronjob_monitor_db_pool_connections',
    help: 'Connections to the database by state; waiting are callers without one.',
    labelNames: ['state'],
    registers: [],
    collect() {
      for (const [state, count] of Object.entries(connections())) this.set({ state }, count);
    },
  });
  registry.registerMetric(pool);
}

/** A gauge without a sample while there is nothing to say. */
function optionalGauge(name: string, help: string, read: () => number | undefined): Gauge {
  return new Gauge({
    name,
    help,
    registers: [],
    collect() {
      const value = read();
      if (value === undefined) this.remove();
      else this.set(value);
    },
  });
}
