import { isGroupName, lateAfterMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  type CatalogCronJob,
  findCronJob,
  findOldestExecution,
  findStartSkew,
  isCronJobSelected,
  listCronJobIds,
  type Store,
} from '@cronjob-monitor/shared/store';
import { type Ref, refText } from '@cronjob-monitor/shared/contract';
import { ApiError, conflict, notFound } from '../errors.ts';
import { isCronJobName, isObjectName } from '../object-name.ts';

export interface KnownCronJob {
  /** A monitor selects it now: only then may it be acted upon. */
  readonly isSelected: boolean;
  /** The present object, or the last one when deleted. */
  readonly cronJob: CatalogCronJob;
  /** All objects that ever had the name: history is told of all of them. */
  readonly ids: readonly number[];
}

/**
 * The CronJob that a path names: one that a monitor selects now, or whose history is kept. Throws NOT_FOUND for every other
 * name, of whatever form.
 */
export async function getKnownCronJob(store: Store, params: Readonly<Record<string, string>>): Promise<KnownCronJob> {
  const { namespace = '', name = '' } = params;
  const path = refText({ namespace, name });
  if (!isObjectName(namespace) || !isCronJobName(name)) throw notFound('CronJob', path, 'neverSeen');
  const cronJob = await findCronJob(store, namespace, name);
  if (!cronJob) throw notFound('CronJob', path, 'neverSeen');
  const ids = await listCronJobIds(store, namespace, name);
  const isSelected = cronJob.deletedAt === undefined && (await isCronJobSelected(store, cronJob.id));
  if (!isSelected && (await findOldestExecution(store, ids)) === undefined) {
    throw notFound('CronJob', path, cronJob.deletedAt === undefined ? 'neverSeen' : 'deleted');
  }
  return { cronJob, ids, isSelected };
}

/** Whether anything is known of a CronJob: of one that was deleted no run may be kept any more. */
export async function isKept(store: Store, { namespace, name }: Ref): Promise<boolean> {
  return getKnownCronJob(store, { namespace, name }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'NOT_FOUND') return false;
      throw error;
    },
  );
}

/** The CronJob that an action is for. Throws NOT_FOUND also for one that only history is kept of. */
export async function getSelectedCronJob(
  store: Store,
  params: Readonly<Record<string, string>>,
): Promise<CatalogCronJob> {
  const { cronJob, isSelected } = await getKnownCronJob(store, params);
  if (isSelected) return cronJob;
  const reason = cronJob.deletedAt === undefined ? 'neverSeen' : 'deleted';
  throw notFound('CronJob', refText(cronJob), reason);
}

/** A CronJob of the cluster: a group of Jobs has no template to start from and no switch. Throws CONFLICT for a group. */
export async function getStartable(store: Store, params: Readonly<Record<string, string>>): Promise<CatalogCronJob> {
  const cronJob = await getSelectedCronJob(store, params);
  if (isGroupName(cronJob.name)) throw conflict(`${cronJob.name} is a group of Jobs`);
  return cronJob;
}

/** A run that is not kept: `expired` when its name says that it was due before the oldest kept run. */
export function executionNotFound(cronJob: CatalogCronJob, jobName: string): ApiError {
  const prefix = `${cronJob.name}-`;
  const suffix = jobName.startsWith(prefix) ? jobName.slice(prefix.length) : '';
  const minutes = /^[0-9]{1,12}$/.test(suffix) ? suffix : undefined;
  const wasDueAt = minutes === undefined ? undefined : Number(minutes) * minuteMs;
  const isExpired =
    wasDueAt !== undefined && cronJob.oldestRunAt !== undefined && wasDueAt < cronJob.oldestRunAt - minuteMs;
  return notFound('Execution', `${cronJob.namespace}/${jobName}`, isExpired ? 'expired' : 'neverSeen');
}

/** How late after its instant a run may start and still be `matched`, milliseconds: a cluster that starts everything late is given more. */
export async function readLateAfterMs(store: Store): Promise<number> {
  return lateAfterMs(await findStartSkew(store));
}
