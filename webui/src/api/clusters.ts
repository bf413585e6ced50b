import type { ClusterList, IncidentList } from '@cronjob-monitor/shared/contract';
import { get, type Answer } from './client.ts';

/** An empty name stands for all clusters. */
const all = { cluster: '' };

export function listClusters(signal?: AbortSignal): Promise<Answer<ClusterList>> {
  return get('clusters', all, signal);
}

/** What is not well in any cluster, worst first. */
export function listIncidentsOfAll(
  query: { readonly limit: number; readonly offset: number },
  signal?: AbortSignal,
): Promise<Answer<IncidentList>> {
  return get('incidents', { ...query, ...all }, signal);
}
