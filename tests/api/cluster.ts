import { ClusterError, type Cluster, type RawObject } from '@cronjob-monitor/shared/kube';

/** A cluster that has `prod/backup` and nothing else; `away` makes it answer nothing. */
export function aClusterOfOne(state: { away: boolean } = { away: false }): Cluster {
  const cronJob: RawObject = {
    metadata: { name: 'backup', namespace: 'prod', uid: 'uid-1' },
    spec: { schedule: '* * * * *', concurrencyPolicy: 'Forbid', jobTemplate: { spec: { template: {} } } },
    status: {},
  };
  const answer = <T>(value: T): T => {
    if (!state.away) return value;
    throw new ClusterError('unreachable', { verb: 'get', resource: 'cronjobs', message: 'no answer' });
  };
  const cluster: Partial<Cluster> = {
    findCronJob: async ({ name }) => answer(name === 'backup' ? cronJob : undefined),
    createJob: async (_namespace, job) => answer(job as RawObject),
    setSuspended: async () => answer(cronJob),
    findJob: async () => answer(undefined),
    listPodsOfJob: async () => answer([]),
  };
  return new Proxy(cluster as Cluster, {
    get: (target, key) => {
      if (key in target) return target[key as keyof Cluster];
      return async () => {
        throw new ClusterError('unreachable', { verb: 'get', resource: String(key), message: 'no answer' });
      };
    },
  });
}
