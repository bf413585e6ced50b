import { ClusterError } from '@cronjob-monitor/shared/kube';
import { clusterForbidden, clusterUnavailable, conflict } from '../errors.ts';

/** What was asked of the cluster. */
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
