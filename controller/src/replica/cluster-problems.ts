import type { Problem } from '@cronjob-monitor/shared/domain';
import type { ReflectorSet } from '../runtime/index.ts';

/** A watch that has to be opened again is no news before this time. */
const patienceMs = 10_000;

/**
 * What is wrong with the cluster as it is watched. An API server that says no keeps this replica from its work, at the start and later. One that
 * does not answer does so only until everything was seen once: then it is the same for all replicas, and what is stored is served on.
 */
export function clusterProblems(reflectors: Pick<ReflectorSet, 'states' | 'hasSynced'>): Problem[] {
  const hasSynced = reflectors.hasSynced();
  const problems: Problem[] = [];
  for (const { trouble, ageMs } of reflectors.states()) {
    if (!trouble) continue;
    const { sentence } = trouble;
    const cause = trouble.isUndefined ? 'definitionsMissing' : 'rightMissing';
    if (trouble.isRefused) problems.push({ key: sentence, cause, sentence, blocks: true });
    else if (!hasSynced || ageMs > patienceMs)
      problems.push({
        key: 'cluster',
        cause: 'clusterAway',
        sentence: `the API server does not answer (${sentence}): look at it and at the network, or correct cluster.kubeconfig`,
        blocks: !hasSynced,
      });
  }
  if (!hasSynced && problems.length === 0)
    problems.push({
      key: 'caches',
      cause: 'watchSilent',
      sentence: 'the caches are not filled yet: the cluster is being listed',
      blocks: true,
    });
  return problems;
}
