import { ClusterError, type LeaseRecord, type ObjectKey, type RawObject } from './cluster.ts';
import { countOf, textOf } from './translate/fields.ts';
import { type Instant, objectOf } from '../domain/index.ts';

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

/** An instant as a Lease wants it: RFC 3339 with exactly six decimals; three, as JavaScript prints, are refused. */
export function toMicroTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}

/** A time in RFC 3339 with exactly six decimals, whatever it had; undefined stays, and what is no time is returned as it is. */
export function withSixDecimals(time: string | undefined): string | undefined {
  const parts = time === undefined ? null : /^(.*T\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  if (!parts) return time;
  const [, seconds = '', decimals = '', zone = ''] = parts;
  return `${seconds}.${decimals.padEnd(6, '0').slice(0, 6)}${zone}`;
}
