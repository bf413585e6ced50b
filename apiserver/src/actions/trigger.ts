import type { Ref, TriggerResult } from '@cronjob-monitor/shared/contract';
import { type Cluster, ClusterError, type RawObject } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { objectOf, ownName } from '@cronjob-monitor/shared/domain';
import { ApiError, conflict } from '../errors.ts';
import { getPresentCronJob, throwClusterRefusal } from './present-cron-job.ts';

/** Kubernetes takes no longer name of a Job whose pods carry it as a label. */
const maxNameLength = 63;
/** A name that is taken is raised so often. */
const mostNames = 6;

export interface TriggerWish {
  readonly cronJob: Ref;
  /** Unfinished Jobs as recorded; what the cluster itself counts is added. */
  readonly activeJobs: readonly string[];
  /** Beside an unfinished Job, whatever the policy says. Nothing is deleted. */
  readonly force: boolean;
  /** Ends the name of the Job in place of the time: one that is there already was made for the same wish. */
  readonly jobSuffix?: string | undefined;
  /** Who asked: kept with the Job. */
  readonly by: string;
}

/** Makes a Job of the CronJob's template, owned by it, also while it is suspended. */
export async function triggerCronJob(
  deps: { readonly cluster: Cluster; readonly clock: Clock },
  wish: TriggerWish,
  signal: AbortSignal,
): Promise<TriggerResult> {
  const { namespace, name } = wish.cronJob;
  const cronJob = await getPresentCronJob(deps.cluster, wish.cronJob, signal);
  const { jobSuffix } = wish;
  const isOwn = (job: string): boolean => jobSuffix !== undefined && job === manualJobName(name, jobSuffix);
  if (!wish.force) refuseBesideUnfinished(cronJob, wish, isOwn);
  const seconds = Math.floor(deps.clock.now() / 1000);
  for (let raised = 0; raised < mostNames; raised += 1) {
    const jobName = manualJobName(name, jobSuffix ?? seconds + raised);
    try {
      await deps.cluster.createJob(namespace, jobOf(cronJob, jobName, wish.by), signal);
      return { success: true, jobName, message: 'Job created' };
    } catch (error) {
      if (error instanceof ClusterError && error.code === 'alreadyExists') {
        if (isOwn(jobName)) return { success: true, jobName, message: 'Job created' };
        // Another call made it within this second: it is recorded a moment later, and goes on.
        if (!wish.force) refuseBesideUnfinished(cronJob, { ...wish, activeJobs: [...wish.activeJobs, jobName] }, isOwn);
        continue;
      }
      throwClusterRefusal(error, { verb: 'create', resource: 'jobs', namespace });
    }
  }
  throw conflict(`Every name for a manual Job of ${namespace}/${name} is taken now; try again in some seconds`);
}

/** Under Forbid and Replace the CronJob controller itself would not start a second Job beside the first. */
function refuseBesideUnfinished(
  cronJob: RawObject,
  { cronJob: { namespace, name }, activeJobs }: TriggerWish,
  isOwn: (job: string) => boolean,
): void {
  const policy = textOf(objectOf(cronJob['spec'])['concurrencyPolicy']);
  if (policy !== 'Forbid' && policy !== 'Replace') return;
  const { active } = objectOf(cronJob['status']);
  const listed = (Array.isArray(active) ? active : []).map((reference) => textOf(objectOf(reference)['name']));
  const unfinished = [...new Set([...activeJobs, ...listed])].filter((job) => job !== '' && !isOwn(job));
  if (unfinished.length === 0) return;
  throw new ApiError(
    'CONCURRENCY_REFUSED',
    `${namespace}/${name} has an unfinished Job and its policy is ${policy}; use force=true to start one beside it`,
    { details: { policy, activeJobs: unfinished } },
  );
}

/** `<base>-manual-<end>`, which is seconds where nothing else is asked for, the CronJob's name cut so that the whole is not too long. */
export function manualJobName(name: string, end: number | string): string {
  const suffix = `-manual-${end}`;
  return name.slice(0, maxNameLength - suffix.length).replace(/[-.]+$/, '') + suffix;
}

function jobOf(cronJob: RawObject, jobName: string, by: string): object {
  const metadata = objectOf(cronJob['metadata']);
  const template = objectOf(objectOf(cronJob['spec'])['jobTemplate']);
  const given = objectOf(template['metadata']);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: jobName,
      namespace: metadata['namespace'],
      labels: objectOf(given['labels']),
      annotations: {
        ...objectOf(given['annotations']),
        'cronjob.kubernetes.io/instantiate': 'manual',
        [ownName('triggered-by')]: by,
      },
      // Without blockOwnerDeletion: that would need rights on the CronJob's finalizers.
      ownerReferences: [
        { apiVersion: 'batch/v1', kind: 'CronJob', name: metadata['name'], uid: metadata['uid'], controller: true },
      ],
    },
    spec: template['spec'],
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
