import type { Cluster } from '@cronjob-monitor/shared/kube';
import type { Logger } from '@cronjob-monitor/shared/process';
import { findMaxConnections, type Store } from '@cronjob-monitor/shared/store';
import type { ControllerSettings } from '../settings/settings.ts';

/** Connections that the work of one process takes at most: its workers, and what callers may read at once. */
const takenBy = { controller: 20, apiserver: 32 } as const;
/** Beside the pool: that of the lock of the leader. */
const besides = { controller: 1, apiserver: 0 } as const;
type Component = keyof typeof takenBy;

/** At the beginning of a term: whether the server takes the connections that all replicas together use. Says so in the log where it does not. */
export async function warnOfConnections(
  deps: {
    readonly settings: Pick<ControllerSettings, 'maxOpenConns' | 'servesApi' | 'ownNamespace' | 'podName'>;
    readonly store: Store;
    readonly cluster: Pick<Cluster, 'listPods'>;
    readonly logger: Logger;
  },
  signal: AbortSignal,
): Promise<void> {
  const { settings, store, cluster, logger } = deps;
  const { maxOpenConns } = settings;
  if (maxOpenConns === undefined) return;
  const serverLimit = await findMaxConnections(store);
  if (serverLimit === undefined) return;
  // Who cannot see its peers counts itself alone.
  const pods = await cluster
    .listPods(settings.ownNamespace, 'app.kubernetes.io/name=cronjob-monitor', signal)
    .catch(() => []);
  const replicas = countReplicas(pods.map(componentOf), settings.servesApi);
  const used = connectionsOf(replicas, maxOpenConns);
  if (used <= serverLimit) return;
  logger.warn('the database server takes fewer connections than the replicas use', {
    serverLimit,
    used,
    ...replicas,
    change: 'raise max_connections of the server, or lower pool.max-open-conns',
  });
}

/** What runs beside this process; itself where no pod is seen. */
export function countReplicas(
  components: readonly (string | undefined)[],
  servesApi: boolean,
): Readonly<Record<Component, number>> {
  const count = (component: Component): number =>
    components.filter((one) => one === component || one === 'standalone').length;
  return {
    controller: Math.max(1, count('controller')),
    apiserver: Math.max(Number(servesApi), count('apiserver')),
  };
}

/** Of all replicas together. `maxOpenConns` is a ceiling for each process. */
export function connectionsOf(replicas: Readonly<Record<Component, number>>, maxOpenConns: number): number {
  return (['controller', 'apiserver'] as const).reduce(
    (sum, component) => sum + replicas[component] * (Math.min(takenBy[component], maxOpenConns) + besides[component]),
    0,
  );
}

function componentOf(pod: unknown): string | undefined {
  const { metadata } = (pod ?? {}) as { metadata?: { labels?: Record<string, unknown> } };
  const component = metadata?.labels?.['app.kubernetes.io/component'];
  return typeof component === 'string' ? component : undefined;
}
