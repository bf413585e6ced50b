import { withPodDefaults } from '../kinds/pod-defaults.ts';
import { listOf, type Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Job } from './batch-objects.ts';
import { failureCountAnnotation, indexAnnotation, trackingFinalizer } from './job-pods.ts';

/** Longest host name, and what the index adds to it. */
const longestHostname = 63;

/** A pod as a Job's template describes it. `index` and the failures before it are those of an Indexed Job. */
export function podOfJob(job: Job, index: number | undefined, indexFailures: number | undefined): KubeObject {
  const { name, namespace, uid } = job.metadata;
  const { template } = job.spec;
  const stem = index === undefined ? name : `${name}-${index}`;
  const indexText = String(index);
  return withPodDefaults({
    kind: 'Pod',
    apiVersion: 'v1',
    metadata: {
      name: '',
      generateName: `${stem}-`,
      ...(namespace === undefined ? {} : { namespace }),
      uid: '',
      resourceVersion: '',
      creationTimestamp: '',
      labels: { ...template.metadata?.labels, ...(index === undefined ? {} : { [indexAnnotation]: indexText }) },
      ...annotationsOf(job, index, indexFailures),
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid, controller: true, blockOwnerDeletion: true }],
      finalizers: [trackingFinalizer],
    },
    spec: index === undefined ? template.spec : indexedSpec(job, stem),
    status: { phase: 'Pending', qosClass: 'BestEffort' },
  });
}

function annotationsOf(
  job: Job,
  index: number | undefined,
  indexFailures: number | undefined,
): { annotations?: Record<string, string> } {
  const annotations: Record<string, string> = { ...job.spec.template.metadata?.annotations };
  if (index !== undefined) annotations[indexAnnotation] = String(index);
  if (indexFailures !== undefined) annotations[failureCountAnnotation] = String(indexFailures);
  return Object.keys(annotations).length === 0 ? {} : { annotations };
}

function indexedSpec(job: Job, stem: string): unknown {
  const { spec } = job.spec.template;
  const variable = {
    name: 'JOB_COMPLETION_INDEX',
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: `metadata.labels['${indexAnnotation}']` } },
  };
  const withIndex = (container: Fields): Fields => ({ ...container, env: [...listOf(container['env']), variable] });
  return {
    ...spec,
    containers: spec.containers.map(withIndex),
    ...(spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withIndex) }),
    hostname: stem.slice(0, longestHostname),
  };
}
