import { fleet, monitors, type DemoCronJob } from './fleet.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Prefix of the notes by which the simulated kubelet plays a pod. */
export const note = 'sim.cronjob-monitor.io/';
const own = 'cronjob-monitor.io/';

export function namespaceObjects(): Fields[] {
  return [...new Set(fleet.map(({ namespace }) => namespace))].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name },
  }));
}

export function monitorObjects(): Fields[] {
  return monitors.map(({ namespace, name, spec }) => ({
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { namespace, name },
    spec: {
      ...spec,
      alerting: { channelRefs: [{ name: 'team-chat' }, { name: 'on-call', severities: ['critical'] }] },
    },
  }));
}

/** `keepJobs`: how many ended Jobs stay, for the time before the service watches; undefined: what Kubernetes keeps by itself. */
export function cronJobObject(cronJob: DemoCronJob, keepJobs?: number): Fields {
  const { namespace, name, labels, outcome, seconds, log, failureLog, owner, description } = cronJob;
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      namespace,
      name,
      ...(labels && { labels }),
      annotations: {
        ...(owner && { [`${own}owner`]: owner }),
        ...(description && { [`${own}description`]: description }),
      },
    },
    spec: {
      schedule: cronJob.schedule,
      ...(cronJob.timeZone && { timeZone: cronJob.timeZone }),
      concurrencyPolicy: cronJob.policy ?? 'Allow',
      ...(cronJob.startingDeadlineS !== undefined && { startingDeadlineSeconds: cronJob.startingDeadlineS }),
      suspend: false,
      successfulJobsHistoryLimit: keepJobs ?? 3,
      failedJobsHistoryLimit: keepJobs ?? 1,
      jobTemplate: {
        spec: {
          backoffLimit: cronJob.backoffLimit ?? 0,
          ...(cronJob.deadlineS !== undefined && { activeDeadlineSeconds: cronJob.deadlineS }),
          ...(cronJob.ttlS !== undefined && keepJobs === undefined && { ttlSecondsAfterFinished: cronJob.ttlS }),
          template: {
            metadata: {
              annotations: {
                [`${note}outcome`]: outcome ?? 'success',
                [`${note}seconds`]: seconds ?? '5',
                [`${note}log`]: log ?? `${name} started\nworking\ndone`,
                ...(failureLog && { [`${note}log-of-failure`]: failureLog }),
              },
            },
            spec: {
              restartPolicy: 'Never',
              containers: [
                {
                  name,
                  image: `registry.example.org/${name}:${cronJob.tag ?? '1.4.2'}`,
                  ...(cronJob.memory !== undefined && { resources: { limits: { memory: cronJob.memory } } }),
                },
              ],
            },
          },
        },
      },
    },
  };
}
