import { type Ref, refText } from '@cronjob-monitor/shared/contract';
import type { Cluster, RawObject } from '@cronjob-monitor/shared/kube';
import { conflict, notFound } from '../errors.ts';
import { throwClusterRefusal } from './cluster-refusal.ts';
import { objectOf } from '@cronjob-monitor/shared/domain';

/** The CronJob as it is in the cluster now. Throws NOT_FOUND when it is gone, CONFLICT while it is being deleted. */
export async function getPresentCronJob(cluster: Cluster, key: Ref, signal: AbortSignal): Promise<RawObject> {
  const cronJob = await cluster
    .findCronJob(key, signal)
    .catch((error: unknown) =>
      throwClusterRefusal(error, { verb: 'get', resource: 'cronjobs', namespace: key.namespace }),
    );
  if (!cronJob) throw notFound('CronJob', refText(key), 'deleted');
  if (objectOf(cronJob['metadata'])['deletionTimestamp'] !== undefined) {
    throw conflict(`CronJob ${key.namespace}/${key.name} is being deleted`);
  }
  return cronJob;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
