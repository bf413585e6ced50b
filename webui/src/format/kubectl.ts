import { isGroupName, type Ref } from '@cronjob-monitor/shared/contract';

/** Commands for a terminal. Names of Kubernetes objects need no quotes: letters, digits, dots and dashes. */
export function describeCronJob({ namespace, name }: Ref): string {
  return `kubectl -n ${namespace} describe cronjob ${name}`;
}

export function describeMonitor({ namespace, name }: Ref): string {
  return `kubectl -n ${namespace} describe cronjobmonitor ${name}`;
}

export function jobsOf({ namespace, name }: Ref): string {
  return `kubectl -n ${namespace} get jobs --sort-by=.metadata.creationTimestamp | grep '^${name}-'`;
}

export function describeJob(namespace: string, jobName: string): string {
  return `kubectl -n ${namespace} describe job ${jobName}`;
}

export function logsOfJob(namespace: string, jobName: string): string {
  return `kubectl -n ${namespace} logs job/${jobName} --all-containers --tail=500`;
}

/** The command that the next step of a failed run begins with. */
export function commandFor(run: {
  namespace: string;
  jobName: string;
  reason: string | null;
  cronJobName: string;
}): string {
  const { namespace, jobName, reason, cronJobName } = run;
  // The template of a Job without a CronJob is not in the cluster.
  if (isGroupName(cronJobName)) return describeJob(namespace, jobName);
  if (reason === 'OOMKilled') return `kubectl -n ${namespace} edit cronjob ${cronJobName}`;
  if (
    reason !== null &&
    /^(ImagePullBackOff|ErrImagePull|InvalidImageName|CreateContainer(Config)?Error)$/.test(reason)
  )
    return `kubectl -n ${namespace} get cronjob ${cronJobName} -o yaml`;
  return describeJob(namespace, jobName);
}
