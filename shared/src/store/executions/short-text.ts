/**
 * Texts that most rows of executions repeat, made short: with them a row is a fifth smaller, and there are hundreds of millions
 * of them. Both ways are plain functions of what else is in the row, so that a text can be looked for as well.
 */

/**
 * The name of a Job as its row has it: what follows the CronJob's name, with the hyphen before it. No name in Kubernetes begins
 * with a hyphen, so it cannot be taken for a whole one.
 */
export function shortJobName(jobName: string, cronJobName: string): string {
  return jobName.startsWith(`${cronJobName}-`) ? jobName.slice(cronJobName.length) : jobName;
}

export function fullJobName(kept: string, cronJobName: string): string {
  return kept.startsWith('-') ? cronJobName + kept : kept;
}

/** The same in SQL, of an execution `e` and its CronJob `c`. */
export const fullJobNameSql = `case when e.job_name like '-%' then c.name || e.job_name else e.job_name end`;

/** Reasons that Kubernetes gives. Append-only: a row has the number of one, behind a `#`. */
const knownReasons = [
  'CompletionsReached',
  'BackoffLimitExceeded',
  'DeadlineExceeded',
  'PodFailurePolicy',
  'MaxFailedIndexesExceeded',
  'FailedIndexes',
  'SuccessPolicy',
  'Error',
  'OOMKilled',
  'Completed',
  'Evicted',
  'ContainerCannotRun',
  'StartError',
  'NodeLost',
  'ContainerStatusUnknown',
  'ImagePullBackOff',
  'ErrImagePull',
  'CreateContainerConfigError',
  'CreateContainerError',
  'InvalidImageName',
  'RunContainerError',
  'CrashLoopBackOff',
  'Unschedulable',
  'PreemptionByScheduler',
  'EvictionByEvictionAPI',
  'DeletionByTaintManager',
  'DeletionByPodGC',
  'TerminationByKubelet',
] as const;
const numbers = new Map<string, number>(knownReasons.map((reason, number) => [reason, number]));

/** A reason as its row has it. Another text that begins with `#` gets one more. */
export function shortReason(reason: string): string {
  const number = numbers.get(reason);
  if (number !== undefined) return `#${number}`;
  return reason.startsWith('#') ? `#${reason}` : reason;
}

/** The reason that a row has; undefined: none. */
export function fullReason(kept: unknown): string | undefined {
  if (typeof kept !== 'string') return undefined;
  if (!kept.startsWith('#')) return kept;
  return kept.startsWith('##') ? kept.slice(1) : (knownReasons[Number(kept.slice(1))] ?? kept);
}
