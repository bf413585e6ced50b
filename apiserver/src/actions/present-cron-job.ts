import { type Ref, refText } from '@cronjob-monitor/shared/contract';
import { type Cluster, ClusterError, type RawObject } from '@cronjob-monitor/shared/kube';
import { objectOf } from '@cronjob-monitor/shared/domain';
import { clusterForbidden, clusterUnavailable, conflict, notFound } from '../errors.ts';

/** The CronJob as it is in the cluster now. Throws NOT_FOUND when it is gone, CONFLICT while it is being deleted. */
export async function getPresentCronJob(cluster: Cluster, key: Ref, signal: AbortSignal): Promise<RawObject> {
  const cronJob = await cluster
    .findCronJob(key, signal)
    .catch((error: unknown) =>
      throwClusterRefusal(error, { verb: 'get', resource: 'cronjobs', namespace: key.namespace }),
    );
  if (!cronJob) throw notFound('CronJob', refText(key), 'deleted');
  if (objectOf(cronJob['metadata'])['deletionTimestamp'] !== undefined) {
    throw conflict(`CronJob ${refText(key)} is being deleted`);
  }
  return cronJob;
}

interface ClusterCall {
  readonly verb: string;
  readonly resource: string;
  readonly namespace: string;
}

/** Throws what a failed call to the cluster means for the caller of the API; other errors as they are. */
export function throwClusterRefusal(error: unknown, call: ClusterCall): never {
  if (!(error instanceof ClusterError)) throw error;
  switch (error.code) {
    case 'forbidden':
    case 'unauthorized':
      throw clusterForbidden(call.verb, call.resource, call.namespace, error);
    case 'conflict':
    case 'notFound':
    case 'gone':
      throw conflict(`It changed while it was written; look at it again and repeat the call`);
    case 'invalid':
    case 'alreadyExists':
      throw conflict(`Kubernetes refused to ${call.verb} ${call.resource} in ${call.namespace}`);
    default:
      throw clusterUnavailable(error);
  }
}
