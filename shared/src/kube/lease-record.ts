import { ClusterError, type LeaseRecord, type ObjectKey, type RawObject } from './cluster.ts';
import { withSixDecimals } from './micro-time.ts';
import { countOf, objectOf, textOf } from './translate/fields.ts';

/** A Lease as the API server sent it. An empty holder means that it is free. Throws `badAnswer` without a version. */
export function toLeaseRecord(object: RawObject, verb: string): LeaseRecord {
  const spec = objectOf(object['spec']);
  const resourceVersion = textOf(objectOf(object['metadata'])['resourceVersion']);
  if (resourceVersion === undefined) {
    throw new ClusterError('badAnswer', {
      verb,
      resource: 'leases',
      message: `${verb} leases: a Lease without a version`,
    });
  }
  return {
    resourceVersion,
    holder: textOf(spec['holderIdentity']) ?? '',
    leaseDurationSeconds: countOf(spec['leaseDurationSeconds']),
    acquireTime: textOf(spec['acquireTime']),
    renewTime: textOf(spec['renewTime']),
    transitions: countOf(spec['leaseTransitions']),
  };
}

/** The Lease as the API server wants it: a replacement must name the version it replaces. */
export function toLeaseObject(
  key: ObjectKey,
  lease: Omit<LeaseRecord, 'resourceVersion'>,
  resourceVersion?: string,
): object {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: {
      name: key.name,
      namespace: key.namespace,
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    spec: {
      holderIdentity: lease.holder,
      leaseDurationSeconds: lease.leaseDurationSeconds,
      acquireTime: withSixDecimals(lease.acquireTime),
      renewTime: withSixDecimals(lease.renewTime),
      leaseTransitions: lease.transitions,
    },
  };
}
