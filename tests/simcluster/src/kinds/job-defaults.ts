import { fieldsOf, isFields, listOf, textsOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { withTemplateDefaults } from './pod-defaults.ts';

const maxInt32 = 2 ** 31 - 1;

export function withCronJobDefaults(cronJob: KubeObject): KubeObject {
  const spec = fieldsOf(cronJob.spec);
  const jobTemplate = fieldsOf(spec['jobTemplate']);
  const jobSpec = fieldsOf(jobTemplate['spec']);
  return {
    ...cronJob,
    spec: {
      ...spec,
      concurrencyPolicy: spec['concurrencyPolicy'] ?? 'Allow',
      suspend: spec['suspend'] ?? false,
      jobTemplate: {
        ...jobTemplate,
        spec: { ...withConditionDefaults(jobSpec), template: withTemplateDefaults(jobSpec['template']) },
      },
      successfulJobsHistoryLimit: spec['successfulJobsHistoryLimit'] ?? 3,
      failedJobsHistoryLimit: spec['failedJobsHistoryLimit'] ?? 1,
    },
  };
}

export function withJobDefaults(job: KubeObject): KubeObject {
  const spec = fieldsOf(job.spec);
  const single = spec['completions'] === undefined && spec['parallelism'] === undefined;
  const complete: Fields = {
    ...withConditionDefaults(spec),
    parallelism: spec['parallelism'] ?? 1,
    ...(single ? { completions: 1 } : {}),
    backoffLimit: spec['backoffLimit'] ?? (spec['backoffLimitPerIndex'] === undefined ? 6 : maxInt32),
    manualSelector: spec['manualSelector'] ?? false,
    template: withTemplateDefaults(spec['template']),
    completionMode: spec['completionMode'] ?? 'NonIndexed',
    suspend: spec['suspend'] ?? false,
    podReplacementPolicy:
      spec['podReplacementPolicy'] ?? (spec['podFailurePolicy'] === undefined ? 'TerminatingOrFailed' : 'Failed'),
  };
  const templateLabels = fieldsOf(fieldsOf(spec['template'])['metadata'])['labels'];
  const withLabels =
    job.metadata.labels === undefined && isFields(templateLabels)
      ? { ...job.metadata, labels: templateLabels as Record<string, string> }
      : job.metadata;
  return { ...job, metadata: withLabels, spec: complete };
}

/** A pattern of pod conditions means the status True. */
function withConditionDefaults(spec: Fields): Fields {
  const policy = spec['podFailurePolicy'];
  if (!isFields(policy)) return spec;
  const rules = listOf(policy['rules']).map((value) => {
    const rule = fieldsOf(value);
    if (!Array.isArray(rule['onPodConditions'])) return rule;
    const patterns = rule['onPodConditions'].map((pattern: unknown) => ({ status: 'True', ...fieldsOf(pattern) }));
    return { ...rule, onPodConditions: patterns };
  });
  return { ...spec, podFailurePolicy: { ...policy, rules } };
}

/** Names the pods of a Job by its own uid, in the selector and on the template. */
export function withGeneratedSelector(job: KubeObject): KubeObject {
  const spec = fieldsOf(job.spec);
  if (spec['manualSelector'] === true) return job;
  const uid = job.metadata.uid;
  const template = fieldsOf(spec['template']);
  const metadata = fieldsOf(template['metadata']);
  const labels: Fields = {
    ...fieldsOf(metadata['labels']),
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': job.metadata.name,
    'controller-uid': uid,
    'job-name': job.metadata.name,
  };
  // Labels that the Job has from its template are the same labels, not a copy of them.
  const shared = job.metadata.labels === undefined || job.metadata.labels === metadata['labels'];
  return {
    ...job,
    metadata: shared ? { ...job.metadata, labels: textsOf(labels) } : job.metadata,
    spec: {
      ...spec,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: { ...template, metadata: { ...metadata, labels } },
    },
  };
}
