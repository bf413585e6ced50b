import type { FailureCause, SlotCause } from '../../contract/index.ts';
import { type ExitCause, findExitCause, weightOf } from './exit-cause.ts';
import { isHopelessReason, isUnplaced, refusedCreate } from './hopeless-wait.ts';
import type { JobFacts } from '../objects/job.ts';
import type { StartEvent } from './not-started.ts';
import type { PodFacts } from '../objects/pod.ts';
import { hasRun } from './attempts.ts';

/** On whose side it is that a run failed, waits or was not started, and what else it concerns. */
export interface Fault {
  readonly cause: FailureCause;
  /** `node node-3`, `registry ghcr.io`, `webhook policy.example.com`, `namespace prod`, `cluster`; undefined: the CronJob alone, or not known. */
  readonly scope: string | undefined;
}

/** What decides about a fault. Texts are those of Kubernetes, cut as they arrived. */
interface FaultFacts {
  readonly namespace: string;
  /** Undefined: no container is known to have ended badly. */
  readonly exitCode: number | undefined;
  /** Of the container or pod that explains the end, or what a container waits for. */
  readonly reason: string | undefined;
  /** What it says with that reason. */
  readonly message: string | undefined;
  readonly jobReason: string | undefined;
  /** Where the pod was placed. */
  readonly node: string | undefined;
  /** Of the container. */
  readonly image: string | undefined;
  /** Of Job and pod, oldest first; they count where no container ran. */
  readonly events: readonly StartEvent[];
  /** A container of a pod has run; undefined: no pod is known. */
  readonly hasRun: boolean | undefined;
}

/**
 * Whose fault it is that a run failed or does not start, by its Job, its pods and the events that were read; undefined: nothing tells.
 * Reasons and messages are those of kubelet, scheduler, container runtime and API server.
 */
export function faultOfRun(
  job: Pick<JobFacts, 'namespace' | 'indexed' | 'failedIndexes' | 'jobReason'>,
  pods: readonly PodFacts[],
  {
    events = [],
    cause = findExitCause(job, pods),
  }: { events?: readonly StartEvent[]; cause?: ExitCause | undefined } = {},
): Fault | undefined {
  const { exitCode, reason, message, container: name } = cause;
  const pod = cause.pod ?? pods.at(-1);
  const container = pod?.containers.find((one) => one.name === name) ?? pod?.containers.find(({ init }) => !init);
  return faultOf({
    namespace: job.namespace,
    exitCode,
    reason,
    message,
    jobReason: job.jobReason,
    node: pod?.node,
    image: container?.image,
    events,
    hasRun: pods.length === 0 ? undefined : pods.some(({ containers }) => containers.some(hasRun)),
  });
}

/** Whose fault it is that an expected run was not started. */
export function faultOfMiss(
  cause: SlotCause | undefined,
  message: string | undefined,
  namespace: string,
): Fault | undefined {
  if (cause === 'controllerSilent') return { cause: 'platform', scope: 'cluster' };
  return cause === 'createRejected' && message !== undefined ? faultOfRefusal(message, namespace) : undefined;
}

/** The first class that holds: platform, capacity, configuration, application; undefined: nothing tells. */
function faultOf(facts: FaultFacts): Fault | undefined {
  const own = faultOfReason(facts.reason, facts.message, facts);
  if (own) return own;
  if (facts.exitCode !== undefined && !isUntoldEnd(facts))
    return exitsOfConfiguration.has(facts.exitCode) ? ofConfiguration : ofApplication;
  const isPull = pullReasons.has(facts.reason ?? '');
  if (facts.exitCode === undefined && (facts.hasRun !== true || isPull)) {
    const telling = facts.events.filter(({ message }) => !isPull || isPullText(message));
    for (const { reason, message } of telling.toReversed()) {
      // A sandbox has an image of its own.
      const isOfImage = isPullText(message) && !reasonsOfNode.has(reason);
      const told = faultOfReason(isOfImage ? 'ErrImagePull' : reason, message, facts);
      if (told) return told;
    }
  }
  // A rule for failed pods needs one that ended; a deadline also ends a Job whose containers only waited.
  const ends = [facts.jobReason, facts.reason].filter((reason) => endsOfApplication.has(reason ?? ''));
  const isWait = facts.hasRun === false || (facts.hasRun === undefined && !ends.includes('PodFailurePolicy'));
  const isOther = ![undefined, facts.jobReason, ...ends].includes(facts.reason);
  return ends.length > 0 && !isWait && !isOther ? ofApplication : undefined;
}

/** `Cause: platform, node node-3` without its first word. */
export function faultInWords({ cause, scope }: Fault): string {
  return scope === undefined ? cause : `${cause}, ${scope}`;
}

const ofConfiguration: Fault = { cause: 'configuration', scope: undefined };
const ofApplication: Fault = { cause: 'application', scope: undefined };

/** The node, or what runs the cluster, took the run away or never took it. kubernetes/pkg/apis/core, pkg/kubelet/types, pkg/util/node. */
const reasonsOfNode = new Set([
  'NodeLost',
  'NodeShutdown',
  'Shutdown',
  'Terminated',
  'NodeAffinity',
  'TaintToleration',
  'UnexpectedAdmissionError',
  'DeletionByTaintManager',
  'DeletionByPodGC',
  'EvictionByEvictionAPI',
  'TerminationByKubelet',
  'ContainerStatusUnknown',
  'ImageInspectError',
  'FailedCreatePodSandBox',
  'FailedAttachVolume',
  'FailedMapVolume',
  'NetworkNotReady',
  // What containerd says of containers that it lost in a restart of the node.
  'Unknown',
]);
const reasonsOfCapacity = new Set([
  'OOMKilled',
  'Evicted',
  'PreemptionByScheduler',
  'Preempting',
  'TopologyAffinityError',
]);
/** The kubelet refuses a pod that does not fit: `OutOfcpu`. kubernetes/pkg/kubelet/lifecycle/predicate.go */
const outOf = /^OutOf[a-z]/;
const reasonsOfConfiguration = new Set([
  'InvalidImageName',
  'ErrImageNeverPull',
  'SignatureValidationFailed',
  // The kubelet admits no such pod.
  'SysctlForbidden',
  'AppArmor',
  'PodOSNotSupported',
]);
/** They are the CronJob's own fault unless their text says that the node did not get an answer, or was itself unable to. */
const reasonsOfCreation = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'StartError',
  'ContainerCannotRun',
  'RunContainerError',
]);
const pullReasons = new Set(['ErrImagePull', 'ImagePullBackOff', 'RegistryUnavailable']);
const exitsOfConfiguration = new Set([126, 127]);
const endsOfApplication = new Set(['DeadlineExceeded', 'PodFailurePolicy']);

const noAnswer =
  /i\/o timeout|handshake timeout|deadline exceeded|timed out|connection re(?:set|fused)|no route to host|network is unreachable|: (?:unexpected )?EOF|broken pipe|request canceled|server misbehaving|temporary failure in name resolution|remote error: tls|closed network connection|sent GOAWAY|INTERNAL_ERROR|client connection lost|bad record MAC|unexpected commit digest|failed size validation/i;
const refusedByLoad =
  /\b429 Too Many Requests|\b5\d\d [A-Z][a-z]+|toomanyrequests|status(?: code)?:? (?:429|5\d\d)\b|request to \S{1,500}: 5\d\d\b|certificate has expired/;
/** The node has no room or no memory left, its disk is broken, or its runtime does not answer. */
const nodeUnable =
  /no space left on device|disk quota exceeded|device or resource busy|input\/output error|cannot allocate memory|too many open files|resource temporarily unavailable|unable to (?:apply|set) cgroup|ttrpc: closed|dial unix |unix:\/\/\/|content digest [^ ]{1,200}: not found/;
const notPullable =
  /not found|manifest unknown|unauthorized|denied|forbidden|authorization failed|authentication required|no basic auth|\b40[13]\b|x509:|no match for platform|no such host|invalid reference|HTTP response to HTTPS client|does not exist|no matching manifest|cannot be used on this platform|no image found in|media type|name unknown/i;
const noSuchObject =
  /(?:secrets?|configmaps?|secretproviderclass[a-z.\d-]{0,60}) "[^"]{1,253}" not found|non-existent|couldn't find key|is forbidden|hostPath type check/i;
const storeTimeout =
  /failed to sync (?:secret|configmap) cache|failed to reserve (?:container|sandbox) name|is already in use by container/;
const nodesNotReady =
  /taint \{[^:}]{0,250}(?:not-ready|unreachable|network-unavailable|uninitialized|out-of-service)\b|no nodes available/;
const nodesDoNotFit = /Insufficient|Too many pods|didn't|exceed max volume count|persistentvolumeclaim/i;

function faultOfReason(reason: string | undefined, text: string | undefined, facts: FaultFacts): Fault | undefined {
  if (reason === undefined) return undefined;
  const message = text ?? '';
  const ofNode: Fault = { cause: 'platform', scope: facts.node === undefined ? undefined : `node ${facts.node}` };
  const ofCapacity: Fault = { cause: 'capacity', scope: `namespace ${facts.namespace}` };
  if (reason === 'ContainerStatusUnknown' && isUntoldEnd(facts)) return undefined;
  if (reasonsOfNode.has(reason)) return ofNode;
  if (pullReasons.has(reason))
    return nodeUnable.test(message) || /read-only file system/.test(message)
      ? ofNode
      : faultOfPull(reason, message, facts.image);
  if (reason === refusedCreate) return faultOfRefusal(message, facts.namespace);
  if (reasonsOfCapacity.has(reason) || outOf.test(reason)) return ofCapacity;
  if (isUnplaced(reason)) {
    if (/persistentvolume(?:claim)? "[^"]*" not found/.test(message)) return ofConfiguration;
    const isDown = nodesNotReady.test(message) && !nodesDoNotFit.test(message);
    return isDown ? { cause: 'platform', scope: 'cluster' } : ofCapacity;
  }
  if (reasonsOfConfiguration.has(reason)) return ofConfiguration;
  if (reasonsOfCreation.has(reason)) {
    if (/init was OOM-killed/.test(message)) return ofCapacity;
    const isUnable = storeTimeout.test(message) || noAnswer.test(message) || nodeUnable.test(message);
    return isUnable ? ofNode : ofConfiguration;
  }
  if (reason === 'FailedMount') return noSuchObject.test(message) ? ofConfiguration : ofNode;
  return undefined;
}

/**
 * The kubelet gives a container that never started this end when the deadline of its Job takes its pod away: it says nothing then.
 * kubernetes/pkg/kubelet/status
 */
function isUntoldEnd({ reason, jobReason }: FaultFacts): boolean {
  return reason === 'ContainerStatusUnknown' && jobReason === 'DeadlineExceeded';
}

function isPullText(message: string): boolean {
  return /failed to pull (?:image|and unpack)/i.test(message);
}

function faultOfPull(reason: string, message: string, image: string | undefined): Fault | undefined {
  const host = image === undefined ? undefined : registryOf(image);
  const ofRegistry: Fault = { cause: 'platform', scope: host === undefined ? undefined : `registry ${host}` };
  if (reason === 'RegistryUnavailable' || noAnswer.test(message) || refusedByLoad.test(message)) return ofRegistry;
  return notPullable.test(message) ? ofConfiguration : undefined;
}

/** Host and port of a reference; the first part without a dot, a port or `localhost` belongs to the name: github.com/distribution/reference. */
function registryOf(image: string): string {
  const [first = '', ...rest] = image.split('/');
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
  return isHost ? first : 'docker.io';
}

/** What the API server says when it does not create a pod or a Job: quota, admission, webhooks. A text that a webhook wrote decides nothing. */
function faultOfRefusal(message: string, namespace: string): Fault | undefined {
  const [, webhook] = /^[^"]{0,200}failed calling webhook "([^"]{1,200})"/.exec(message) ?? [];
  if (webhook !== undefined) return { cause: 'platform', scope: `webhook ${webhook}` };
  if (/admission webhook "[^"]{1,253}" denied the request/.test(message)) return ofConfiguration;
  if (/status unknown for quota/.test(message)) return { cause: 'platform', scope: 'cluster' };
  if (/forbidden: exceeded quota: /.test(message)) return { cause: 'capacity', scope: `namespace ${namespace}` };
  if (/is forbidden|is invalid|denied|not found|no PriorityClass with name/.test(message)) return ofConfiguration;
  const isAway =
    noAnswer.test(message) ||
    /etcdserver|unable to (?:handle the request|return a response)|Internal error occurred|did not complete within|too many requests|object has been modified|storage is \(re\)initializing|missing content-type field|: Unauthorized$/i.test(
      message,
    );
  return isAway ? { cause: 'platform', scope: 'cluster' } : undefined;
}

/**
 * The rule of a podFailurePolicy that the condition of a Job names, such as `FailJob rule at index 0`; undefined: it names none. What
 * Kubernetes writes ends so, after names of containers and pods.
 */
export function policyRuleOf(jobMessage: string | undefined): string | undefined {
  return /\bmatching ([A-Za-z]{1,20} rule at index \d{1,3})$/.exec(jobMessage ?? '')?.[1];
}

/**
 * Why a run failed, as it is told: what its container ended with, else what the Job says. Where the deadline of the Job ended it, that is why: the
 * container was only stopped for it. A container that could not start, or that was killed for its memory, names its own cause: more time
 * would not have helped.
 */
export function failureReason({
  reason,
  jobReason,
}: {
  readonly reason?: string | undefined;
  readonly jobReason?: string | undefined;
}): string | undefined {
  if (jobReason !== 'DeadlineExceeded' || reason === undefined) return reason ?? jobReason;
  return isHopelessReason(reason) || weightOf(reason) > weightOf(jobReason) ? reason : jobReason;
}

/** `exit code 137, OOMKilled`; empty when nothing is known. */
export function exitInWords(run: {
  readonly exitCode?: number | undefined;
  readonly reason?: string | undefined;
  readonly jobReason?: string | undefined;
}): string {
  const { exitCode } = run;
  const parts = [exitCode === undefined ? undefined : `exit code ${exitCode}`, failureReason(run)];
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}
