import type { ClusterEvent } from '../cluster.ts';
import { countOf, instantOf, textOf, toLine } from './fields.ts';
import { metadataOf } from './metadata.ts';
import { objectOf, type Json } from '../../domain/index.ts';

/**
 * An event as Kubernetes sent it; undefined without a UID. An event that stands for many has its count and times in `series` or beside
 * them, depending on who wrote it.
 */
export function toClusterEvent(object: Json): ClusterEvent | undefined {
  const metadata = metadataOf(object);
  if (!metadata) return undefined;
  const series = objectOf(object['series']);
  const about = objectOf(object['involvedObject']);
  const eventAt = instantOf(object['eventTime']);
  const firstAt = instantOf(object['firstTimestamp']) ?? eventAt ?? (metadata.createdAt || undefined);
  return {
    uid: metadata.uid,
    type: toLine(textOf(object['type']) ?? '', 50),
    reason: toLine(textOf(object['reason']) ?? '', 200),
    message: toLine(textOf(object['message']) ?? textOf(object['note']) ?? '', 2000),
    count: countOf(series['count']) || countOf(object['count']) || 1,
    firstAt,
    lastAt: instantOf(series['lastObservedTime']) ?? instantOf(object['lastTimestamp']) ?? firstAt,
    objectUid: textOf(about['uid']) ?? '',
    object: toLine(`${textOf(about['kind']) ?? ''}/${textOf(about['name']) ?? ''}`, 320),
  };
}
