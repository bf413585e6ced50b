import type { Ref, SuspendResult } from '@cronjob-monitor/shared/contract';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { objectOf } from '@cronjob-monitor/shared/domain';
import { getPresentCronJob, throwClusterRefusal } from './present-cron-job.ts';

/** Suspends or resumes a CronJob. When it is so already nothing is written. */
export async function setSuspended(
  cluster: Cluster,
  key: Ref,
  suspended: boolean,
  signal: AbortSignal,
): Promise<SuspendResult> {
  const cronJob = await getPresentCronJob(cluster, key, signal);
  const isSo = (objectOf(cronJob['spec'])['suspend'] === true) === suspended;
  if (!isSo) {
    await cluster
      .setSuspended(key, suspended, signal)
      .catch((error: unknown) =>
        throwClusterRefusal(error, { verb: 'patch', resource: 'cronjobs', namespace: key.namespace }),
      );
  }
  return { success: true, message: messageOf(suspended, isSo), suspended, changed: !isSo };
}

function messageOf(suspended: boolean, wasSo: boolean): string {
  if (wasSo) return suspended ? 'Suspended already' : 'Not suspended';
  return suspended ? 'Suspended' : 'Resumed';
}
