import type { FailureCause } from '../../contract/index.ts';
import type { FixMatch } from './pattern.ts';

/** A suggestion that comes with the service. It applies when any of its matches does. */
interface BuiltInFix {
  readonly name: string;
  /** Of what the program itself has no part in: it applies to runs that failed on one of these sides, before all others. */
  readonly causes?: readonly FailureCause[];
  /** 1 to 99, of those that every run may call for: above those of monitors when these say so. */
  readonly priority?: number;
  readonly anyOf: readonly FixMatch[];
  readonly suggestion: string;
}

const anyReason = (...reasons: readonly string[]): FixMatch => ({ reasonPattern: `(?i)^(?:${reasons.join('|')})$` });
const exitCodes = (min: number, max: number = min): FixMatch => ({ exitCodeRange: { min, max } });
const log = (logPattern: string): FixMatch => ({ logPattern });
const event = (eventPattern: string): FixMatch => ({ eventPattern });

/** Above the other built-in ones, and below those of monitors that name no priority: whose fault it is chooses between them. */
export const infrastructurePriority = 100;

/**
 * Those of infrastructure in the order of trial, then highest priority first. What took a pod away comes before events that tell of its
 * start: a volume that was mounted at the second attempt did not end a run that was evicted. Reasons are those of kubelet, scheduler, garbage collector and Job controller.
 */
export const builtInFixes: readonly BuiltInFix[] = [
  {
    name: 'oom-killed',
    causes: ['capacity'],
    anyOf: [anyReason('OOMKilled')],
    suggestion:
      'The container {{ .Container }} used more memory than its limit and was killed. Raise resources.limits.memory of {{ .CronJob.Name }}, or make it use less.',
  },
  {
    name: 'image-platform',
    causes: ['configuration'],
    anyOf: [event('(?i)no match for platform|no matching manifest|cannot be used on this platform')],
    suggestion:
      'The image {{ .Image }} is not built for the platform of the node. Build it for that platform, or keep its pods on nodes of the other one (kubernetes.io/arch).',
  },
  {
    name: 'image-pull',
    causes: ['configuration'],
    anyOf: [anyReason('ImagePullBackOff', 'ErrImagePull', 'InvalidImageName', 'ErrImageNeverPull')],
    suggestion:
      'The image {{ .Image }} cannot be pulled. Check its name and tag, and that imagePullSecrets hold valid credentials for the registry.',
  },
  {
    name: 'registry',
    causes: ['platform'],
    anyOf: [anyReason('ImagePullBackOff', 'ErrImagePull', 'RegistryUnavailable')],
    suggestion:
      'The image {{ .Image }} did not arrive: its registry does not answer or refuses for its load, or the node has no room for it. Look at the registry, the way to it, and the node.',
  },
  {
    name: 'config-error',
    causes: ['configuration'],
    anyOf: [anyReason('CreateContainerConfigError', 'CreateContainerError')],
    suggestion:
      'The container could not be created: a Secret, a ConfigMap or a key that it refers to is missing in {{ .Namespace }}, or its settings are invalid.',
  },
  {
    name: 'evicted',
    causes: ['capacity', 'platform'],
    anyOf: [anyReason('Evicted', 'EvictionByEvictionAPI', 'PreemptionByScheduler')],
    suggestion:
      'The pod was evicted from the node {{ .Node }}: by pressure on the node, a drain, or a pod of higher priority. Set requests near the real use, give it a priority, or allow a retry.',
  },
  {
    name: 'start-error',
    causes: ['configuration'],
    anyOf: [anyReason('ContainerCannotRun', 'StartError', 'RunContainerError')],
    suggestion: 'The container could not be started. Check its command, its working directory and its mounts.',
  },
  {
    name: 'node-trouble',
    causes: ['platform'],
    anyOf: [
      anyReason(
        'CreateContainerConfigError',
        'CreateContainerError',
        'StartError',
        'ContainerCannotRun',
        'RunContainerError',
      ),
      event('^(?:FailedCreatePodSandBox|NetworkNotReady):'),
    ],
    suggestion:
      'The node {{ .Node }} could not make the container: its kubelet, runtime or network did not answer in time, or it has no room left. Look at the node.',
  },
  {
    name: 'memory-to-start',
    causes: ['capacity'],
    anyOf: [anyReason('ContainerCannotRun', 'StartError', 'RunContainerError')],
    suggestion:
      'The container {{ .Container }} was killed before its program began, for its memory limit is too low. Raise resources.limits.memory of {{ .CronJob.Name }}.',
  },
  {
    name: 'command-missing',
    causes: ['configuration'],
    anyOf: [exitCodes(126, 127)],
    suggestion:
      'Exit code {{ .ExitCode }}: the command was not found or may not be executed. Check command, path and file mode in the image {{ .Image }}.',
  },
  {
    name: 'node-lost',
    causes: ['platform'],
    anyOf: [anyReason('NodeLost', 'DeletionByTaintManager', 'DeletionByPodGC', 'ContainerStatusUnknown')],
    suggestion: 'The node {{ .Node }} went away under the run. Allow a retry (backoffLimit), and look at the node.',
  },
  {
    name: 'unschedulable',
    causes: ['capacity', 'platform', 'configuration'],
    anyOf: [anyReason('Unschedulable'), event('^FailedScheduling:')],
    suggestion:
      'No node takes the pod. Compare its requests, node selector, affinity and tolerations with what the nodes offer, and look at the quota.',
  },
  {
    name: 'quota',
    causes: ['capacity'],
    anyOf: [event('(?i)exceeded quota')],
    suggestion:
      'The quota of {{ .Namespace }} is used up: the API server did not create the pod. Raise the quota, or free what others use.',
  },
  {
    name: 'admission',
    causes: ['configuration'],
    anyOf: [event('(?i)\\bforbidden\\b'), event('(?i)denied the request')],
    suggestion:
      'The API server refused to create the pod in {{ .Namespace }}. Mend what the admission rule in the event asks for.',
  },
  {
    name: 'webhook',
    causes: ['platform'],
    anyOf: [event('(?i)failed calling webhook')],
    suggestion:
      'A webhook that has to agree to new pods did not answer, so the pod was not created. Look at the service that the event names.',
  },
  {
    name: 'mount',
    causes: ['platform', 'configuration'],
    anyOf: [event('^(?:FailedMount|FailedAttachVolume):')],
    suggestion:
      'A volume could not be mounted. Check that its claim is bound, and that no other node still holds the volume.',
  },
  {
    name: 'deadline',
    priority: 80,
    anyOf: [anyReason('DeadlineExceeded')],
    suggestion:
      'The run took longer than activeDeadlineSeconds allows. Raise it, or find out what it waits for: the end of the log tells how far it came.',
  },
  {
    name: 'sigkill',
    priority: 75,
    anyOf: [exitCodes(137)],
    suggestion:
      'Exit code 137: the process was killed (SIGKILL). Most often memory ran out, which the runtime of a busy node may fail to say: raise the memory limit of {{ .CronJob.Name }}. Else a deadline or a drain ended it.',
  },
  {
    name: 'sigterm',
    priority: 74,
    anyOf: [exitCodes(143)],
    suggestion:
      'Exit code 143: something outside asked the process to stop (SIGTERM): a deadline, a drain, a deletion or a preemption.',
  },
  {
    name: 'crash',
    priority: 73,
    anyOf: [exitCodes(134, 136), exitCodes(139)],
    suggestion:
      'Exit code {{ .ExitCode }}: the process aborted or accessed memory that is not its own. Look for a stack trace in the log.',
  },
  {
    name: 'crash-loop',
    priority: 70,
    anyOf: [anyReason('CrashLoopBackOff')],
    suggestion:
      'The container {{ .Container }} ends again and again. Read the log of its previous start, and check its liveness probe.',
  },
  {
    name: 'disk-full',
    priority: 62,
    anyOf: [log('(?i)no space left')],
    suggestion:
      'A disk is full. Free space, or enlarge the volume or the ephemeral-storage limit of {{ .CronJob.Name }}.',
  },
  {
    name: 'dns',
    priority: 60,
    anyOf: [log('(?i)no such host|could not resolve host|name or service not known|ENOTFOUND|EAI_AGAIN')],
    suggestion: 'A host name could not be resolved. Check the name, the DNS policy of the pod and network policies.',
  },
  {
    name: 'refused',
    priority: 58,
    anyOf: [log('(?i)connection refused|ECONNREFUSED')],
    suggestion:
      'A service that the job needs refused the connection. Check that it runs, its port, and network policies of {{ .Namespace }}.',
  },
  {
    name: 'tls',
    priority: 56,
    anyOf: [log('(?i)x509:|certificate has expired|certificate verify failed|CERT_HAS_EXPIRED')],
    suggestion:
      'A certificate was not accepted. Check its end date, the name it is for, and that the image knows its authority.',
  },
  {
    name: 'exit-1',
    priority: 12,
    anyOf: [exitCodes(1)],
    suggestion:
      'Exit code 1 is the general failure of most programs. Look at the end of the log and at the configuration.',
  },
  {
    name: 'exit-range',
    priority: 10,
    anyOf: [exitCodes(2, 125)],
    suggestion:
      'Exit code {{ .ExitCode }} is the program’s own: its documentation and the end of the log say what it means.',
  },
  {
    name: 'exit-255',
    priority: 6,
    anyOf: [exitCodes(255)],
    suggestion:
      'Exit code 255 is what ssh returns where the connection fails, and other programs for an error that they give no code of its own. The end of the log says which.',
  },
  {
    name: 'signal-range',
    priority: 5,
    anyOf: [exitCodes(128, 255)],
    suggestion:
      'Exit code {{ .ExitCode }} means that a signal ended the process: its number is the code minus 128. Look for who sent it.',
  },
  {
    name: 'failure-policy',
    priority: 4,
    anyOf: [anyReason('PodFailurePolicy')],
    suggestion: 'A rule of the Job’s podFailurePolicy ended it. Check the rule against the exit code of the container.',
  },
  {
    name: 'backoff-limit',
    priority: 3,
    anyOf: [anyReason('BackoffLimitExceeded')],
    suggestion:
      'All attempts of {{ .JobName }} failed. The log of the last one says why; backoffLimit says how many there are.',
  },
];
