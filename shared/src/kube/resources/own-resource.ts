import type { Instant } from '../../domain/index.ts';
import type { RawObject } from '../cluster.ts';
import { countOf } from '../translate/fields.ts';
import { metadataOf } from '../translate/metadata.ts';

/** A CronJobMonitor or an AlertChannel as received: who it is, and the parts that are judged by themselves. */
export interface OwnResource {
  readonly uid: string;
  /** Empty for an AlertChannel. */
  readonly namespace: string;
  readonly name: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: Instant;
  readonly deletingAt: Instant | undefined;
  /** With `spec` and `status` as they came; for decodeMonitorSpec and decodeChannelSpec. */
  readonly object: RawObject;
  readonly status: unknown;
}

/** Undefined when it has no UID or no name. Whatever else the object holds, nothing throws. */
export function toOwnResource(object: RawObject): OwnResource | undefined {
  const metadata = metadataOf(object);
  if (metadata === undefined) return undefined;
  const { uid, namespace, name, createdAt, deletingAt, raw } = metadata;
  return {
    uid,
    namespace,
    name,
    resourceVersion: typeof raw['resourceVersion'] === 'string' ? raw['resourceVersion'] : '',
    generation: countOf(raw['generation']),
    createdAt,
    deletingAt,
    object: { spec: object['spec'] },
    status: object['status'],
  };
}
