import type { Fields } from '../json.ts';
import type { KubeObject } from '../storage/kube-object.ts';

/**
 * Jobs, CronJobs and pods as their controllers read them. What is stored was decoded and completed by the schema, or made
 * by a controller, so a cast from `KubeObject` to these shapes is safe.
 */
export interface JobCondition {
  readonly type: string;
  readonly status: 'True' | 'False';
  readonly lastProbeTime: string;
  readonly lastTransitionTime: string;
  readonly reason: string;
  readonly message: string;
}

interface UncountedPods {
  readonly succeeded?: readonly string[];
  readonly failed?: readonly string[];
}

export interface JobStatus {
  readonly conditions?: readonly JobCondition[];
  readonly startTime?: string;
  readonly completionTime?: string;
  readonly active?: number;
  readonly succeeded?: number;
  readonly failed?: number;
  readonly terminating?: number;
  readonly completedIndexes?: string;
  readonly failedIndexes?: string;
  readonly uncountedTerminatedPods?: UncountedPods;
  readonly ready?: number;
}

interface ExitCodeRule {
  readonly containerName?: string | null;
  readonly operator: 'In' | 'NotIn';
  readonly values: readonly number[];
}

export interface PodFailureRule {
  readonly action: 'FailJob' | 'FailIndex' | 'Ignore' | 'Count';
  readonly onExitCodes?: ExitCodeRule;
  readonly onPodConditions?: readonly { readonly type: string; readonly status?: string }[];
}

interface JobSpec {
  readonly parallelism?: number;
  readonly completions?: number;
  readonly activeDeadlineSeconds?: number;
  readonly podFailurePolicy?: { readonly rules: readonly PodFailureRule[] };
  readonly successPolicy?: {
    readonly rules: readonly { readonly succeededIndexes?: string; readonly succeededCount?: number }[];
  };
  readonly backoffLimit?: number;
  readonly backoffLimitPerIndex?: number;
  readonly maxFailedIndexes?: number;
  readonly template: PodTemplate;
  readonly ttlSecondsAfterFinished?: number;
  readonly completionMode?: 'NonIndexed' | 'Indexed';
  readonly suspend?: boolean;
  readonly podReplacementPolicy?: 'TerminatingOrFailed' | 'Failed';
  readonly managedBy?: string;
}

interface PodTemplate {
  readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
  readonly spec: PodSpec;
}

interface PodSpec {
  readonly containers: readonly (Fields & { readonly name: string; readonly image?: string })[];
  readonly initContainers?: readonly (Fields & { readonly name: string; readonly image?: string })[];
  readonly restartPolicy?: 'Always' | 'OnFailure' | 'Never';
  readonly nodeName?: string;
  readonly terminationGracePeriodSeconds?: number;
  readonly [field: string]: unknown;
}

export interface Job extends KubeObject {
  readonly spec: JobSpec;
  readonly status: JobStatus;
}

export interface ObjectReference {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly apiVersion: string;
  readonly resourceVersion: string;
}

export interface CronJobStatus {
  readonly active?: readonly ObjectReference[];
  readonly lastScheduleTime?: string;
  readonly lastSuccessfulTime?: string;
}

interface CronJobSpec {
  readonly schedule: string;
  readonly timeZone?: string;
  readonly startingDeadlineSeconds?: number;
  readonly concurrencyPolicy?: 'Allow' | 'Forbid' | 'Replace';
  readonly suspend?: boolean;
  readonly jobTemplate: {
    readonly metadata?: { readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> };
    readonly spec: JobSpec;
  };
  readonly successfulJobsHistoryLimit?: number;
  readonly failedJobsHistoryLimit?: number;
}

export interface CronJob extends KubeObject {
  readonly spec: CronJobSpec;
  readonly status: CronJobStatus;
}

export interface TerminatedState {
  readonly exitCode: number;
  readonly reason: string;
  readonly message?: string;
  /** Both are null for a container that never was; a node that cannot start one says that it began in 1970. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  readonly containerID?: string;
}

export interface ContainerState {
  readonly waiting?: { readonly reason: string; readonly message?: string };
  readonly running?: { readonly startedAt: string };
  readonly terminated?: TerminatedState;
}

export interface ContainerStatus {
  readonly name: string;
  readonly state: ContainerState;
  readonly lastState: ContainerState;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly image: string;
  readonly imageID: string;
  readonly started: boolean;
}

export interface PodStatus {
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed';
  readonly conditions?: readonly {
    readonly type: string;
    readonly status: string;
    readonly lastProbeTime: null;
    readonly lastTransitionTime: string;
    readonly reason?: string;
  }[];
  readonly reason?: string;
  readonly message?: string;
  readonly startTime?: string;
  readonly containerStatuses?: readonly ContainerStatus[];
  readonly initContainerStatuses?: readonly ContainerStatus[];
  readonly qosClass?: string;
  readonly [field: string]: unknown;
}

export interface Pod extends KubeObject {
  readonly spec: PodSpec;
  readonly status: PodStatus;
}

/** The condition that ended a Job; undefined while it has not. */
export function endOf(job: Job): JobCondition | undefined {
  return job.status.conditions?.find(
    (condition) => (condition.type === 'Complete' || condition.type === 'Failed') && condition.status === 'True',
  );
}

export function conditionOf(job: Job, type: string): JobCondition | undefined {
  return job.status.conditions?.find((condition) => condition.type === type);
}
