import { judgeConditions, type JobCondition, type JobFacts } from '../../domain/index.ts';
import { arrayOf, countOf, instantOf, objectOf, textOf, type Json } from './fields.ts';
import type { Interner } from './interner.ts';
import { toLine } from './line.ts';
import { controllerOf, metadataOf, type Metadata } from './metadata.ts';
import type { TemplatePool } from './packed-template.ts';
import { hashOfText, templateText } from './template-hash.ts';

const slotAnnotation = 'batch.kubernetes.io/cronjob-scheduled-timestamp';
const manualAnnotation = 'cronjob.kubernetes.io/instantiate';
const triggeredByAnnotation = 'cronjob-monitor.io/triggered-by';
const retryLabel = 'cronjob-monitor.io/retry';
const retryOfAnnotation = 'cronjob-monitor.io/retry-of';

/** What the records of all Jobs share. */
export interface SharedTexts {
  readonly intern: Interner;
  readonly templates: TemplatePool;
}

/**
 * A Job as Kubernetes sent it; undefined when no CronJob controls it, or when it has no UID or name. Throws nothing.
 * With `known`, what was last known of it, a Job that has lost its owner since is still that owner's run: who deletes a CronJob may leave
 * its Jobs running.
 */
export function toJobFacts(object: Json, { intern, templates }: SharedTexts, known?: JobFacts): JobFacts | undefined {
  const metadata = metadataOf(object);
  const owner = metadata && (controllerOf(metadata, 'CronJob') ?? formerOwner(metadata, known));
  if (!metadata || !owner) return undefined;
  const spec = objectOf(object['spec']);
  const status = objectOf(object['status']);
  const verdict = judgeConditions(conditionsOf(status), instantOf(status['completionTime']));
  return {
    uid: metadata.uid,
    namespace: intern(metadata.namespace),
    name: metadata.name,
    cronJobUid: intern(owner.uid),
    cronJobName: intern(owner.name),
    createdAt: metadata.createdAt,
    startedAt: instantOf(status['startTime']),
    endedAt: verdict.endedAt,
    outcome: verdict.outcome,
    jobReason: intern(lineOf(verdict.reason, 200)),
    jobMessage: intern(lineOf(verdict.message, 500)),
    decidedAt: verdict.decidedAt,
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

function templateOf(spec: Json, { intern, templates }: SharedTexts) {
  const text = templateText(spec);
  const templateHash = intern(hashOfText(text));
  return { templateHash, template: templates.packedOf(templateHash, () => text) };
}

function formerOwner({ uid }: Metadata, known: JobFacts | undefined): { uid: string; name: string } | undefined {
  return known?.uid === uid ? { uid: known.cronJobUid, name: known.cronJobName } : undefined;
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
