import type { LoadedConfig } from '../config/index.ts';
import type { ClusterOptions } from './client.ts';

/** Which cluster, as whom, and how often it may be asked, from `cluster.*` and KUBECONFIG. */
export function toClusterOptions({
  config,
  surroundings,
}: Pick<LoadedConfig, 'config' | 'surroundings'>): Omit<ClusterOptions, 'clock' | 'logger'> {
  return {
    kubeconfig: config['cluster.kubeconfig'] ?? surroundings.kubeconfig,
    context: config['cluster.context'],
    requestsPerSecond: config['cluster.requests-per-second'],
    burst: 2 * config['cluster.requests-per-second'],
  };
}
