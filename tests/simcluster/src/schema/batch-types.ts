import { parseGoTypes } from './go-type.ts';
import { podTypes } from './pod-types.ts';

/** Jobs and CronJobs. */
export const batchTypes = parseGoTypes(
  `
PodFailurePolicyOnExitCodesRequirement
  containerName *string
  operator string
  values []int32 set
PodFailurePolicyOnPodConditionsPattern
  type string
  status? string
PodFailurePolicyRule
  action string
  onExitCodes? *PodFailurePolicyOnExitCodesRequirement
  onPodConditions? []PodFailurePolicyOnPodConditionsPattern
PodFailurePolicy
  rules []PodFailurePolicyRule
SuccessPolicyRule
  succeededIndexes? *string
  succeededCount? *int32
SuccessPolicy
  rules []SuccessPolicyRule
JobSpec
  parallelism? *int32
  completions? *int32
  activeDeadlineSeconds? *int64
  podFailurePolicy? *PodFailurePolicy
  successPolicy? *SuccessPolicy
  backoffLimit? *int32
  backoffLimitPerIndex? *int32
  maxFailedIndexes? *int32
  selector? *LabelSelector
  manualSelector? *bool
  template PodTemplateSpec
  ttlSecondsAfterFinished? *int32
  completionMode? *string
  suspend? *bool
  podReplacementPolicy? *string
  managedBy? *string
JobCondition
  type string
  status string
  lastProbeTime Time
  lastTransitionTime Time
  reason? string
  message? string
UncountedTerminatedPods
  succeeded? []string set
  failed? []string set
JobStatus
  conditions? []JobCondition merge=type
  startTime? *Time
  completionTime? *Time
  active? int32
  succeeded? int32
  failed? int32
  terminating? *int32
  completedIndexes? string
  failedIndexes? *string
  uncountedTerminatedPods? *UncountedTerminatedPods
  ready? *int32
Job
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? JobSpec
  status? JobStatus
JobTemplateSpec
  metadata? ObjectMeta
  spec? JobSpec
CronJobSpec
  schedule string
  timeZone? *string
  startingDeadlineSeconds? *int64
  concurrencyPolicy? string
  suspend? *bool
  jobTemplate JobTemplateSpec
  successfulJobsHistoryLimit? *int32
  failedJobsHistoryLimit? *int32
CronJobStatus
  active? []ObjectReference
  lastScheduleTime? *Time
  lastSuccessfulTime? *Time
CronJob
  kind? string
  apiVersion? string
  metadata? ObjectMeta
  spec? CronJobSpec
  status? CronJobStatus
`,
  podTypes,
);
