import {
  type ConcurrencyPolicy,
  type CronJobFacts,
  type CronJobNotes,
  type Json,
  objectOf,
  ownName,
  statedZone,
} from '../../domain/index.ts';
import { hasCome } from './status-times.ts';
import { arrayOf, countOf, instantOf, numberOf, textOf, toLine } from './fields.ts';
import type { Interner } from './interner.ts';
import { ownManager } from '../paths.ts';
import {
  ignoreAnnotation,
  type Metadata,
  metadataOf,
  metadataWritesOf,
  ownAnnotations,
  textsOf,
  wordWritesOf,
} from './metadata.ts';
import { templateHash } from './template-text.ts';

/** Longest texts kept of the annotations that people write for readers. */
const noteChars = { owner: 253, description: 1000, runbook: 2000, dependsOn: 6_500, adviceIgnore: 1_000 } as const;
const noteNames = {
  owner: 'owner',
  description: 'description',
  runbook: 'runbook',
  dependsOn: 'depends-on',
  adviceIgnore: 'advice-ignore',
} as const;

/** The fields whose change opens a new epoch: only for these does it matter who wrote when. */
const epochFields = ['schedule', 'timeZone', 'suspend', 'concurrencyPolicy', 'startingDeadlineSeconds'] as const;

const policies: Readonly<Record<string, ConcurrencyPolicy>> = { Allow: 'Allow', Forbid: 'Forbid', Replace: 'Replace' };

/** A CronJob as Kubernetes sent it; undefined when it has no UID or name. Throws nothing. */
export function toCronJobFacts(object: Json, intern: Interner): CronJobFacts | undefined {
  const metadata = metadataOf(object);
  if (!metadata) return undefined;
  const spec = objectOf(object['spec']);
  const status = objectOf(object['status']);
  const job = objectOf(objectOf(spec['jobTemplate'])['spec']);
  const pod = objectOf(objectOf(job['template'])['spec']);
  const schedule = textOf(spec['schedule']) ?? '';
  return {
    uid: metadata.uid,
    namespace: intern(metadata.namespace),
    name: metadata.name,
    labels: textsOf(metadata.labels, intern),
    notes: notesOf(metadata.annotations),
    ...ownAnnotations(metadata, intern),
    schedule: intern(schedule),
    timeZone: intern(statedZone(schedule, textOf(spec['timeZone']))),
    suspended: spec['suspend'] === true,
    policy: policies[textOf(spec['concurrencyPolicy']) ?? ''] ?? 'Allow',
    deadlineS: numberOf(spec['startingDeadlineSeconds']),
    successLimit: numberOf(spec['successfulJobsHistoryLimit']) ?? 3,
    failureLimit: numberOf(spec['failedJobsHistoryLimit']) ?? 1,
    generation: countOf(metadata.raw['generation']),
    createdAt: metadata.createdAt,
    deletingAt: metadata.deletingAt,
    lastScheduleAt: instantOf(status['lastScheduleTime']),
    lastSuccessAt: lastSuccessOf(metadata, status),
    activeJobUids: arrayOf(status['active']).flatMap((entry) => textOf(objectOf(entry)['uid']) ?? []),
    activeDeadlineS: numberOf(job['activeDeadlineSeconds']),
    ttlAfterFinishedS: numberOf(job['ttlSecondsAfterFinished']),
    backoffLimit: numberOf(job['backoffLimit']),
    restartPolicy: intern(textOf(pod['restartPolicy'])),
    specWrites: specWritesOf(metadata, intern),
    labelWrites: metadataWritesOf(metadata, intern, [ignoreAnnotation]),
    ...wordWritesOf(metadata),
    templateHash: intern(templateHash(job)),
    templateWrittenAt: templateWrittenAt(metadata),
    lastWriter: lastWriterOf(metadata, intern),
    health: healthOf(metadata.annotations, intern),
  };
}

/** Told by the clock of the controller manager: a success that has not come yet by that of the API server proves nothing. */
function lastSuccessOf(metadata: Metadata, status: Json): CronJobFacts['lastSuccessAt'] {
  const at = instantOf(status['lastSuccessfulTime']);
  return at !== undefined && hasCome(at, metadata) ? at : undefined;
}

const managerChars = 128;

/** The newest writer of anything but a subresource; the controllers write the status, and we the annotations of health. */
function lastWriterOf(metadata: Metadata, intern: Interner): CronJobFacts['lastWriter'] {
  const managedBy = intern(ownerOf(metadata));
  return arrayOf(metadata.raw['managedFields'])
    .map(objectOf)
    .filter((entry) => textOf(entry['subresource']) === undefined && !isMirrored(entry))
    .flatMap((entry) => {
      const at = instantOf(entry['time']);
      const manager = intern(toLine(textOf(entry['manager']) ?? '', managerChars));
      const operation = intern(toLine(textOf(entry['operation']) ?? '', 16));
      return at === undefined ? [] : [{ manager, operation, at, ...(managedBy !== undefined && { managedBy }) }];
    })
    .reduce<CronJobFacts['lastWriter']>((last, entry) => (last && last.at > entry.at ? last : entry), undefined);
}

/** The newest write of a manager that owns a part of the job template. Kubernetes tells whole seconds. */
function templateWrittenAt({ raw }: Metadata): CronJobFacts['templateWrittenAt'] {
  const writes = arrayOf(raw['managedFields']).flatMap((value) => {
    const entry = objectOf(value);
    const at = instantOf(entry['time']);
    const written = objectOf(objectOf(entry['fieldsV1'])['f:spec']);
    const tells = 'f:jobTemplate' in written && textOf(entry['subresource']) === undefined;
    return at === undefined || !tells ? [] : [at];
  });
  return writes.length === 0 ? undefined : Math.max(...writes);
}

/** Which of the usual tools says that the object is its own: `release backups`. */
function ownerOf({ raw, annotations, labels }: Metadata): string | undefined {
  const owner = objectOf(arrayOf(raw['ownerReferences'])[0]);
  const [kind, name] = [textOf(owner['kind']), textOf(owner['name'])];
  const tools = [
    ['release', annotations['meta.helm.sh/release-name']],
    ['Argo CD', annotations['argocd.argoproj.io/tracking-id']],
    ['Kustomization', labels['kustomize.toolkit.fluxcd.io/name']],
  ] as const;
  if (kind !== undefined && name !== undefined) return toLine(`${kind} ${name}`, managerChars);
  const found = tools.find(([, value]) => textOf(value) !== undefined);
  return found && toLine(`${found[0]} ${textOf(found[1])}`, managerChars);
}

/** What is applied by us is health alone; suspending by our API is an update. */
function isMirrored(entry: Json): boolean {
  return textOf(entry['manager']) === ownManager && textOf(entry['operation']) === 'Apply';
}

/** As it was mirrored last. */
function healthOf(annotations: Json, intern: Interner): CronJobFacts['health'] {
  const health = textOf(annotations[ownName('health')]);
  const message = textOf(annotations[ownName('health-message')]);
  if (health === undefined && message === undefined) return undefined;
  return { health: intern(toLine(health ?? '', 64)), message: intern(toLine(message ?? '', 512)) };
}

/** What people wrote for readers. */
export function notesOf(annotations: Json): CronJobFacts['notes'] {
  const notes: { -readonly [Name in keyof CronJobNotes]: CronJobNotes[Name] } = {};
  for (const name of ['owner', 'description', 'runbook', 'dependsOn', 'adviceIgnore'] as const) {
    const text = textOf(annotations[ownName(noteNames[name])]);
    if (text !== undefined) notes[name] = toLine(text, noteChars[name]);
  }
  return notes;
}

/** Who wrote which of the epoch's fields, and when: entries of the status and of other fields are left out. */
function specWritesOf({ raw }: Metadata, intern: Interner): CronJobFacts['specWrites'] {
  return arrayOf(raw['managedFields']).flatMap((value) => {
    const entry = objectOf(value);
    const at = instantOf(entry['time']);
    const written = objectOf(objectOf(entry['fieldsV1'])['f:spec']);
    const fields = epochFields.filter((field) => `f:${field}` in written);
    if (at === undefined || fields.length === 0 || textOf(entry['subresource']) !== undefined) return [];
    return [{ manager: intern(textOf(entry['manager']) ?? ''), at, fields }];
  });
}
