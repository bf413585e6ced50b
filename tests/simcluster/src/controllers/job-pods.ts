import { readIndexes } from './index-ranges.ts';
import type { Job, Pod, PodFailureRule } from './batch-objects.ts';

export const trackingFinalizer = 'batch.kubernetes.io/job-tracking';
export const indexAnnotation = 'batch.kubernetes.io/job-completion-index';
export const failureCountAnnotation = 'batch.kubernetes.io/job-index-failure-count';

export function isActive(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp === undefined;
}

function isTerminal(pod: Pod): boolean {
  return pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
}

/** Told to go, and not gone yet. */
export function isTerminating(pod: Pod): boolean {
  return !isTerminal(pod) && pod.metadata.deletionTimestamp !== undefined;
}

export function isReady(pod: Pod): boolean {
  return pod.status.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') ?? false;
}

/** Whether the pod counts as failed: it did, or it is going and the Job does not wait for how it ends. */
export function countsAsFailed(pod: Pod, job: Job): boolean {
  if (pod.status.phase === 'Failed') return true;
  if (job.spec.podReplacementPolicy === 'Failed') return false;
  return pod.metadata.deletionTimestamp !== undefined && pod.status.phase !== 'Succeeded';
}

export function isTracked(pod: Pod): boolean {
  return pod.metadata.finalizers?.includes(trackingFinalizer) ?? false;
}

/** The index of a pod of an Indexed Job; undefined for others. */
export function indexOf(pod: Pod): number | undefined {
  const text = pod.metadata.annotations?.[indexAnnotation];
  return text === undefined ? undefined : Number(text);
}

/** How often the index of this pod had failed before it, where failures count per index. */
export function failureCountOf(pod: Pod): number {
  return Number(pod.metadata.annotations?.[failureCountAnnotation] ?? 0);
}

/** When the pod ended, epoch milliseconds. */
export function finishedAt(pod: Pod): number {
  const ends = (pod.status.containerStatuses ?? []).map((status) => status.state.terminated?.finishedAt ?? undefined);
  const latest = ends.reduce<string>((last, end) => (end !== undefined && end > last ? end : last), '');
  if (latest !== '' && ends.every((end) => end !== undefined)) return Date.parse(latest);
  const ready = pod.status.conditions?.find((one) => one.type === 'Ready' && one.status === 'False');
  if (ready !== undefined) return Date.parse(ready.lastTransitionTime);
  return Date.parse(pod.metadata.deletionTimestamp ?? pod.metadata.creationTimestamp);
}

interface PolicyMatch {
  readonly action: PodFailureRule['action'];
  readonly message: string;
}

/** What the Job's policy says about a failed pod; undefined when no rule fits. */
export function matchPolicy(job: Job, pod: Pod): PolicyMatch | undefined {
  for (const [index, rule] of (job.spec.podFailurePolicy?.rules ?? []).entries()) {
    const message = matchRule(rule, pod);
    if (message !== undefined)
      return { action: rule.action, message: `${message} matching ${rule.action} rule at index ${index}` };
  }
  return undefined;
}

function matchRule(rule: PodFailureRule, pod: Pod): string | undefined {
  const place = `pod ${pod.metadata.namespace ?? ''}/${pod.metadata.name}`;
  const codes = rule.onExitCodes;
  if (codes !== undefined) {
    const statuses = [...(pod.status.containerStatuses ?? []), ...(pod.status.initContainerStatuses ?? [])];
    const hit = statuses.find((status) => {
      const code = status.state.terminated?.exitCode;
      const named = codes.containerName ?? undefined;
      if (code === undefined || code === 0 || (named !== undefined && named !== status.name)) return false;
      return codes.values.includes(code) === (codes.operator === 'In');
    });
    const code = hit?.state.terminated?.exitCode;
    return hit === undefined ? undefined : `Container ${hit.name} for ${place} failed with exit code ${String(code)}`;
  }
  const condition = rule.onPodConditions
    ?.map((pattern) =>
      pod.status.conditions?.find((one) => one.type === pattern.type && one.status === (pattern.status ?? 'True')),
    )
    .find((one) => one !== undefined);
  return condition === undefined
    ? undefined
    : `${place[0]?.toUpperCase()}${place.slice(1)} has condition ${condition.type}`;
}

/** Whether the success policy holds; the text says which rule. */
export function metSuccessPolicy(job: Job, succeeded: ReadonlySet<number>): string | undefined {
  const rules = job.spec.successPolicy?.rules ?? [];
  for (const [index, rule] of rules.entries()) {
    const wanted =
      rule.succeededIndexes === undefined ? undefined : readIndexes(rule.succeededIndexes, job.spec.completions);
    const counted = wanted === undefined ? succeeded : new Set([...wanted].filter((one) => succeeded.has(one)));
    const needed = rule.succeededCount ?? wanted?.size ?? 0;
    if (needed > 0 && counted.size >= needed) return `Matched rules at index ${index}`;
  }
  return undefined;
}

/** The pod without the mark that keeps it until it is counted. */
export function withoutTracking(pod: Pod): Pod {
  const { finalizers: _all, ...metadata } = pod.metadata;
  const kept = (pod.metadata.finalizers ?? []).filter((name) => name !== trackingFinalizer);
  return { ...pod, metadata: kept.length === 0 ? metadata : { ...metadata, finalizers: kept } };
}
