import type { NamespaceFacts, Json } from '../../domain/index.ts';
import { textOf } from './fields.ts';
import type { Interner } from './interner.ts';
import { ignoreAnnotation, metadataOf, metadataWritesOf, ownAnnotations, textsOf, wordWritesOf } from './metadata.ts';

/** Monitors of these namespaces may look into the one that has it (resources.md). */
export const consentAnnotation = 'cronjob-monitor.io/monitored-from';

/** A Namespace as Kubernetes sent it; undefined when it has no UID or name. Throws nothing. */
export function toNamespaceFacts(object: Json, intern: Interner): NamespaceFacts | undefined {
  const metadata = metadataOf(object);
  if (!metadata) return undefined;
  const consent = textOf(metadata.annotations[consentAnnotation]) ?? '';
  const monitoredFrom = consent
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  return {
    uid: metadata.uid,
    name: intern(metadata.name),
    labels: textsOf(metadata.labels, intern),
    ...ownAnnotations(metadata, intern),
    monitoredFrom,
    reachWrites: metadataWritesOf(metadata, intern, [consentAnnotation, ignoreAnnotation]),
    ...wordWritesOf(metadata),
    createdAt: metadata.createdAt,
    deletingAt: metadata.deletingAt,
  };
}
