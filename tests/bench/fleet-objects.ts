/** Plain objects of a fleet for benchmarks: realistic in size, and never started by a controller. */
type Fields = Readonly<Record<string, unknown>>;

export const namespaceOf = (index: number): string => `bench-${index % 20}`;
export const cronJobName = (index: number): string => `job-${String(index).padStart(5, '0')}`;

export function aNamespace(name: string): Fields {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

export function aMonitor(namespace: string): Fields {
  return {
    apiVersion: 'cronjob-monitor.io/v1alpha1',
    kind: 'CronJobMonitor',
    metadata: { namespace, name: 'all' },
    spec: {},
  };
}

export function aCronJob(index: number): Fields {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      namespace: namespaceOf(index),
      name: cronJobName(index),
      labels: { app: cronJobName(index), team: `team-${index % 7}` },
    },
    spec: {
      schedule: `${index % 60} ${index % 24} * * *`,
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: 100,
      failedJobsHistoryLimit: 100,
      jobTemplate: { spec: { backoffLimit: 0, template: podTemplate(index) } },
    },
  };
}

export function aJob(index: number, run: number, ownerUid: string, createdAt: number): Fields {
  const slotAt = Math.floor(createdAt / 60_000) * 60_000;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      namespace: namespaceOf(index),
      name: `${cronJobName(index)}-${slotAt / 60_000 - run}`,
      labels: { app: cronJobName(index) },
      annotations: {
        'batch.kubernetes.io/cronjob-scheduled-timestamp': new Date(slotAt - run * 60_000)
          .toISOString()
          .replace('.000Z', 'Z'),
      },
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: cronJobName(index), uid: ownerUid, controller: true },
      ],
    },
    spec: { backoffLimit: 0, template: podTemplate(index) },
  };
}

/** The status of a Job that is over, as its controller writes it. */
export function endedStatus(startedAt: number, endedAt: number, isSuccess: boolean): Fields {
  const text = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`;
  const condition = (type: string, reason: string): Fields => ({
    type,
    status: 'True',
    reason,
    message: 'by the benchmark',
    lastProbeTime: text(endedAt),
    lastTransitionTime: text(endedAt),
  });
  return {
    startTime: text(startedAt),
    ...(isSuccess && { completionTime: text(endedAt), succeeded: 1 }),
    ...(!isSuccess && { failed: 1 }),
    uncountedTerminatedPods: {},
    conditions: isSuccess
      ? [condition('SuccessCriteriaMet', 'CompletionsReached'), condition('Complete', 'CompletionsReached')]
      : [condition('FailureTarget', 'BackoffLimitExceeded'), condition('Failed', 'BackoffLimitExceeded')],
  };
}

function podTemplate(index: number): Fields {
  return {
    metadata: { labels: { app: cronJobName(index) } },
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image: `registry.example.org/jobs/${cronJobName(index)}:1.4.2`,
          command: ['/bin/run', '--all', '--verbose'],
          env: ['HOST', 'PORT', 'USER', 'REGION', 'BUCKET'].map((name) => ({
            name,
            value: `value-of-${name.toLowerCase()}`,
          })),
          resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { memory: '256Mi' } },
        },
      ],
    },
  };
}
