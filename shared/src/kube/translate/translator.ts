import type { CronJobFacts, JobFacts, Json, NamespaceFacts, PodFacts } from '../../domain/index.ts';
import type { RawObject } from '../cluster.ts';
import { toCronJobFacts } from './cron-job.ts';
import { createInterner, type Interner } from './interner.ts';
import { toJobFacts } from './job.ts';
import { createTemplatePool } from './template-text.ts';
import { toPodFacts } from './pod.ts';
import { textOf } from './fields.ts';
import {
  consentAnnotation,
  ignoreAnnotation,
  metadataOf,
  metadataWritesOf,
  ownAnnotations,
  textsOf,
  wordWritesOf,
} from './metadata.ts';

/**
 * Makes our records of raw objects. A record holds the few fields that decide and shares the texts that repeat; the raw object can be
 * dropped at once. Undefined: the object is not one we keep. Whatever the object holds, nothing throws.
 */
interface Translator {
  cronJob(object: RawObject): CronJobFacts | undefined;
  /** A Job that no CronJob controls belongs to a group; one that has lost its CronJob since `known` stays a run of it. */
  job(object: RawObject, known?: JobFacts): JobFacts | undefined;
  /** Undefined for pods that no Job controls. */
  pod(object: RawObject): PodFacts | undefined;
  namespace(object: RawObject): NamespaceFacts | undefined;
}

/** One for a process: the texts it shares are those of all kinds. */
export function createTranslator(): Translator {
  const intern = createInterner();
  const templates = createTemplatePool();
  return {
    cronJob: (object) => toCronJobFacts(object, intern),
    job: (object, known) => toJobFacts(object, { intern, templates }, known),
    pod: (object) => toPodFacts(object, intern),
    namespace: (object) => toNamespaceFacts(object, intern),
  };
}

/** A Namespace as Kubernetes sent it; undefined when it has no UID or name. Throws nothing. */
function toNamespaceFacts(object: Json, intern: Interner): NamespaceFacts | undefined {
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
