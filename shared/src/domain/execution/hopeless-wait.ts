import type { Instant } from '../instant.ts';
import type { JobFacts } from '../objects/job.ts';
import type { ContainerFacts, PodFacts } from '../objects/pod.ts';
import { ranOnce } from './attempts.ts';

/** A wait that does not pass by itself: a person has to mend the Job, its image or its namespace. */
export interface HopelessWait {
  /** Such as CreateContainerConfigError, ImagePullBackOff or FailedCreate. */
  readonly reason: string;
  readonly message: string | undefined;
  /** The Job waits for it since then at the latest. */
  readonly sinceAt: Instant;
  /** It is known to be hopeless from then on: an image may come with the second or third pull. */
  readonly fromAt: Instant;
}

/** The cluster refuses to create the pods of a Job: quota, admission, a missing service account. From events FailedCreate of the Job. */
export interface CreateRefusal {
  readonly firstAt: Instant;
  readonly lastAt: Instant;
  readonly message: string;
}

/** An event as far as refusals are read from it; an instant is undefined when the event has none. */
interface RefusalEvent {
  readonly reason: string;
  readonly message: string;
  readonly firstAt: Instant | undefined;
  readonly lastAt: Instant | undefined;
}

/** The reason of a wait for pods that are not created. */
export const refusedCreate = 'FailedCreate';

/** What the kubelet cannot do whatever time passes: kubernetes/pkg/kubelet/kuberuntime and pkg/kubelet/images. */
const neverPass = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
]);
/** A failed pull alternates between the two: the attempt, and the wait for the next one. */
const failedPulls = new Set(['ErrImagePull', 'ImagePullBackOff']);
/** The kubelet waits 10 s after the first failed pull and 20 s after the second. */
const secondPullBackOffMs = 30_000;

/**
 * What a Job waits for in vain; undefined: it goes on, it waits for what may come, or it need not start. A container that waits so makes its
 * Job wait, whatever ran beside or before it. Nothing here depends on when the Job was looked at. Specification section 1, jobStuck.
 */
export function hopelessWaitOf(
  job: JobFacts,
  pods: readonly PodFacts[],
  refusal?: CreateRefusal,
): HopelessWait | undefined {
  if (job.outcome || job.decidedAs || job.suspended || job.deletingAt !== undefined) return undefined;
  const waits = newestOf(pods).flatMap((pod) => waitsIn(job, pod));
  const [first] = waits.sort((a, b) => a.sinceAt - b.sinceAt);
  return first ?? refusedWait(job, pods, refusal);
}

/** Whether a run that ended without an exit code had waited in vain, by the reason that was recorded of it. */
export function isHopelessReason(reason: string | undefined): boolean {
  return reason !== undefined && (neverPass.has(reason) || failedPulls.has(reason) || reason === refusedCreate);
}

/** Whether the reason of a wait is that no node takes the pod, which may pass: nodes come and go. */
export function isUnplaced(reason: string | undefined): boolean {
  return reason === 'Unschedulable' || reason === 'FailedScheduling';
}

/** What the pods of a Job that ended without a run still waited for, if that does not come by itself. */
export function hopelessWaitAtEnd(pods: readonly PodFacts[]): string | undefined {
  const reasons = pods.flatMap(({ containers }) =>
    containers.flatMap((container) => hopelessReasonOf(container) ?? []),
  );
  return reasons.at(-1);
}

/** When a wait of that reason, begun then, is known to be hopeless. */
export function hopelessFrom(reason: string, sinceAt: Instant): Instant {
  return failedPulls.has(reason) ? sinceAt + secondPullBackOffMs : sinceAt;
}

/** What the events of a Job say of the creation of its pods. */
export function refusalIn(events: readonly RefusalEvent[]): CreateRefusal | undefined {
  let found: CreateRefusal | undefined;
  for (const { reason, message, firstAt, lastAt } of events) {
    const from = firstAt ?? lastAt;
    const to = lastAt ?? firstAt;
    if (reason !== refusedCreate || from === undefined || to === undefined) continue;
    const isNewest = found === undefined || to >= found.lastAt;
    found = {
      firstAt: Math.min(found?.firstAt ?? from, from),
      lastAt: Math.max(found?.lastAt ?? to, to),
      message: isNewest ? message : (found?.message ?? message),
    };
  }
  return found;
}

/** A pod that another one has replaced waits no more: of each completion index the newest counts, of pods made at once all of them. */
function newestOf(pods: readonly PodFacts[]): PodFacts[] {
  const newestAt = new Map<number | undefined, Instant>();
  for (const { index, createdAt } of pods) newestAt.set(index, Math.max(newestAt.get(index) ?? createdAt, createdAt));
  return pods.filter(
    ({ index, createdAt, phase, deletingAt }) =>
      createdAt === newestAt.get(index) && phase !== 'Succeeded' && phase !== 'Failed' && deletingAt === undefined,
  );
}

function waitsIn(job: JobFacts, pod: PodFacts): HopelessWait[] {
  return pod.containers.flatMap((container) => {
    const reason = hopelessReasonOf(container);
    if (reason === undefined) return [];
    const sinceAt = Math.max(
      job.startedAt ?? job.createdAt,
      pod.startedAt ?? pod.createdAt,
      ...endsBefore(container, pod),
    );
    return [{ reason, message: container.waitingMessage, sinceAt, fromAt: hopelessFrom(reason, sinceAt) }];
  });
}

function hopelessReasonOf({ waiting, lastTerminated }: ContainerFacts): string | undefined {
  if (waiting === undefined) return undefined;
  if (neverPass.has(waiting) || failedPulls.has(waiting)) return waiting;
  // Between two tries of a process that cannot be started.
  const neverStarted = lastTerminated !== undefined && !ranOnce(lastTerminated);
  return waiting === 'CrashLoopBackOff' && neverStarted ? 'RunContainerError' : undefined;
}

/** A container waits for what ran before it: the init containers, and its own earlier instance. */
function endsBefore(container: ContainerFacts, pod: PodFacts): Instant[] {
  const before = pod.containers.filter(({ init, sidecar, name }) => init && !sidecar && name !== container.name);
  return [...before.map(({ terminated }) => terminated), container.lastTerminated].flatMap((end) =>
    ranOnce(end) ? (end?.finishedAt ?? []) : [],
  );
}

function refusedWait(
  job: JobFacts,
  pods: readonly PodFacts[],
  refusal: CreateRefusal | undefined,
): HopelessWait | undefined {
  // Of an attempt whose pods are not known nothing tells whether it came before the refusal or after it.
  if (!refusal || job.activePods > 0 || job.failedPods + job.succeededPods > pods.length) return undefined;
  const newestPodAt = pods.reduce((newest, { createdAt }) => Math.max(newest, createdAt), 0);
  if (newestPodAt >= refusal.lastAt) return undefined; // refused first and created then
  const sinceAt = Math.max(job.startedAt ?? job.createdAt, refusal.firstAt, newestPodAt);
  return { reason: refusedCreate, message: refusal.message, sinceAt, fromAt: sinceAt };
}
