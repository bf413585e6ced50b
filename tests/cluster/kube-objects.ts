/** Prefix of the annotations that tell the stand-in for a kubelet how a pod ends: tests/realcluster/README.md. */
const sim = 'sim.cronjob-monitor.io/';

/** What a pod plays, by annotation without its prefix: outcome, seconds, log … */
type Play = Readonly<Record<string, string>>;

export interface JobShape {
  readonly play?: Play;
  /** Besides, or in place of, what is usual: one container, no retry. */
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly pod?: Readonly<Record<string, unknown>>;
}

/** The spec of a Job with one container that plays its part. */
export function jobSpec({ play = { outcome: 'success' }, spec = {}, pod = {} }: JobShape = {}): object {
  const annotations = Object.fromEntries(Object.entries(play).map(([name, value]) => [sim + name, value]));
  return {
    backoffLimit: 0,
    ...spec,
    template: {
      metadata: { annotations },
      spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox:1' }], ...pod },
    },
  };
}

export function aJob(name: string, shape: JobShape = {}): object {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: jobSpec(shape) };
}

export interface CronJobShape extends JobShape {
  readonly schedule?: string;
  /** Fields of the CronJob's own spec. */
  readonly cron?: Readonly<Record<string, unknown>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

export function aCronJob(
  name: string,
  { schedule = '0 0 1 1 *', cron = {}, labels = {}, annotations = {}, ...shape }: CronJobShape = {},
): object {
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, labels, annotations },
    spec: { schedule, jobTemplate: { spec: jobSpec(shape) }, ...cron },
  };
}

export const paths = {
  cronJobs: (namespace: string, name?: string) =>
    `/apis/batch/v1/namespaces/${namespace}/cronjobs${name ? `/${name}` : ''}`,
  jobs: (namespace: string, name?: string) => `/apis/batch/v1/namespaces/${namespace}/jobs${name ? `/${name}` : ''}`,
  pods: (namespace: string, name?: string) => `/api/v1/namespaces/${namespace}/pods${name ? `/${name}` : ''}`,
  leases: (namespace: string, name?: string) =>
    `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases${name ? `/${name}` : ''}`,
  monitors: (namespace: string, name?: string) =>
    `/apis/cronjob-monitor.io/v1alpha1/namespaces/${namespace}/cronjobmonitors${name ? `/${name}` : ''}`,
};
