import {
  groupNameOf,
  groupUidOf,
  type Instant,
  type JobCondition,
  type JobFacts,
  type JobMarks,
  type Json,
  judgeConditions,
  objectOf,
  ownName,
} from '../../domain/index.ts';
import { notesOf } from './cron-job.ts';
import { clockErrorMs } from './status-times.ts';
import { arrayOf, countOf, instantOf, textOf, toLine } from './fields.ts';
import type { Interner } from './interner.ts';
import { anyControllerOf, controllerOf, type Metadata, metadataOf, textsOf } from './metadata.ts';
import type { TemplatePool } from './template-text.ts';
import { hashOfText, templateText } from './template-text.ts';

const slotAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const manualAnnotation = 'cronjob.kubernetes.io/instantiate';
const triggeredByAnnotation = ownName('triggered-by');
const retryLabel = ownName('retry');
const retryOfAnnotation = ownName('retry-of');
const groupLabel = ownName('group');

/** What the records of all Jobs share. */
interface SharedTexts {
  readonly intern: Interner;
  readonly templates: TemplatePool;
}

/**
 * A Job as Kubernetes sent it; undefined when it has no UID or name. Throws nothing. One that no CronJob controls belongs to a group of Jobs.
 * With `known`, what was last known of it, a Job that has lost its owner since is still that owner's run.
 */
export function toJobFacts(object: Json, { intern, templates }: SharedTexts, known?: JobFacts): JobFacts | undefined {
  const metadata = metadataOf(object);
  if (!metadata) return undefined;
  const { owner, marks } = belongingOf(metadata, intern, known);
  const spec = objectOf(object['spec']);
  const status = objectOf(object['status']);
  const begunAt = instantOf(status['startTime']);
  const verdict = judgeConditions(conditionsOf(status), {
    begunAt: begunAt ?? metadata.createdAt,
    completedAt: instantOf(status['completionTime']),
  });
  return {
    uid: metadata.uid,
    namespace: intern(metadata.namespace),
    name: metadata.name,
    cronJobUid: intern(owner.uid),
    cronJobName: intern(owner.name),
    ...(marks && { marks }),
    createdAt: metadata.createdAt,
    ...timesOf(metadata, begunAt, verdict.endedAt),
    outcome: verdict.outcome,
    jobReason: intern(lineOf(verdict.reason, 200)),
    jobMessage: intern(lineOf(verdict.message, 500)),
    decidedAt: verdict.decidedAt && verdict.decidedAt - clockErrorMs(verdict.decidedAt, metadata),
    decidedAs: verdict.decidedAs,
    suspended: verdict.suspended || (spec['suspend'] === true && verdict.outcome === undefined),
    deletingAt: metadata.deletingAt,
    ...marksOf(metadata, intern),
    indexed: spec['completionMode'] === 'Indexed',
    activePods: countOf(status['active']),
    readyPods: countOf(status['ready']),
    succeededPods: countOf(status['succeeded']),
    failedPods: countOf(status['failed']),
    failedIndexes: lineOf(textOf(status['failedIndexes']), 500),
    ...templateOf(spec, { intern, templates }),
  };
}

/** When it began and ended: as its status says, unless the clock that dated the end was wrong. */
function timesOf(metadata: Metadata, begunAt: Instant | undefined, toldEndAt: Instant | undefined) {
  const errorMs = toldEndAt === undefined ? 0 : clockErrorMs(toldEndAt, metadata);
  if (toldEndAt === undefined || errorMs === 0) return { startedAt: begunAt, endedAt: toldEndAt };
  // That clock may have been right when the Job began.
  const startedAt = begunAt === undefined ? undefined : Math.max(metadata.createdAt, begunAt - Math.max(0, errorMs));
  return { startedAt, endedAt: toldEndAt - errorMs, toldEndAt };
}

function templateOf(spec: Json, { intern, templates }: SharedTexts) {
  const text = templateText(spec);
  const templateHash = intern(hashOfText(text));
  return { templateHash, template: templates.packedOf(templateHash, () => text) };
}

interface Belonging {
  readonly owner: { readonly uid: string; readonly name: string };
  /** Undefined: its owner is a CronJob. */
  readonly marks: JobMarks | undefined;
}

function belongingOf(metadata: Metadata, intern: Interner, known: JobFacts | undefined): Belonging {
  const owner = controllerOf(metadata, 'CronJob');
  if (owner) return { owner, marks: undefined };
  // Who deletes a CronJob may leave its Jobs running.
  if (known?.uid === metadata.uid && !known.marks)
    return { owner: { uid: known.cronJobUid, name: known.cronJobName }, marks: undefined };
  const controller = anyControllerOf(metadata);
  const name = groupNameOf({
    name: metadata.name,
    generateName: textOf(metadata.raw['generateName']),
    label: textOf(metadata.labels[groupLabel]),
    controller,
  });
  const marks = {
    labels: textsOf(metadata.labels, intern),
    annotations: Object.keys(metadata.annotations).map((key) => intern(key)),
    notes: notesOf(metadata.annotations),
    ownerKind: intern(controller?.kind),
  };
  return { owner: { uid: groupUidOf(metadata.namespace, name), name }, marks };
}

/** What labels and annotations say about who started the Job, and for which slot. */
function marksOf({ annotations, labels }: Metadata, intern: Interner) {
  return {
    slotAt: instantOf(annotations[slotAnnotation]),
    manual: annotations[manualAnnotation] === 'manual',
    triggeredBy: intern(lineOf(textOf(annotations[triggeredByAnnotation]), 200)),
    isRetry: labels[retryLabel] === 'true',
    retryOf: intern(lineOf(textOf(annotations[retryOfAnnotation]), 253)),
  };
}

function conditionsOf(status: Json): JobCondition[] {
  return arrayOf(status['conditions']).map((entry) => {
    const condition = objectOf(entry);
    return {
      type: textOf(condition['type']) ?? '',
      holds: condition['status'] === 'True',
      reason: textOf(condition['reason']),
      message: textOf(condition['message']),
      sinceAt: instantOf(condition['lastTransitionTime']),
    };
  });
}

function lineOf(text: string | undefined, maxChars: number): string | undefined {
  return text === undefined ? undefined : toLine(text, maxChars);
}
