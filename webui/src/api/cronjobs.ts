import type {
  AlertType,
  CronJobDetail,
  CronJobInclude,
  CronJobKind,
  CronJobList,
  CronJobRoutes,
  CronJobSortKey,
  CronJobStatusFilter,
  DeleteHistoryResult,
  HealthState,
  Ref,
  Series,
  SlotPage,
  SuspendResult,
  TriggerResult,
} from '@cronjob-monitor/shared/contract';
import { act, get, type Answer } from './client.ts';

export interface CronJobQuery {
  /** Of another cluster than the one that is shown. */
  readonly cluster?: string;
  /** Absent: CronJobs alone. */
  readonly kind?: readonly CronJobKind[];
  readonly namespace?: readonly string[];
  readonly state?: readonly HealthState[];
  readonly status?: readonly CronJobStatusFilter[];
  readonly search?: string;
  /** With `search`: names that are nearly so as well. */
  readonly similar?: boolean;
  /** `namespace/name`. */
  readonly monitor?: string;
  readonly includeRemoved?: boolean;
  readonly recent?: number;
  readonly sort?: CronJobSortKey | `-${CronJobSortKey}`;
  readonly limit?: number;
  readonly offset?: number;
}

export function listCronJobs(query: CronJobQuery, signal?: AbortSignal): Promise<Answer<CronJobList>> {
  return get('cronjobs', { ...query }, signal);
}

export function getCronJob(
  ref: Ref,
  query: { readonly recent?: number; readonly include?: readonly CronJobInclude[]; readonly zone?: string },
  signal?: AbortSignal,
): Promise<Answer<CronJobDetail>> {
  return get(pathOf(ref), query, signal);
}

export function getRoute(
  ref: Ref,
  query: { readonly type: AlertType; readonly at: string | undefined },
  signal?: AbortSignal,
): Promise<Answer<CronJobRoutes>> {
  return get(`${pathOf(ref)}/route`, query, signal);
}

export function getSeries(ref: Ref, days: number, signal?: AbortSignal): Promise<Answer<Series>> {
  return get(`${pathOf(ref)}/series`, { days }, signal);
}

export function listUnmetSlots(ref: Ref, since: string, signal?: AbortSignal): Promise<Answer<SlotPage>> {
  const outcome = ['missed', 'skippedForbid', 'skippedDeadline', 'unobserved', 'indeterminate'];
  return get(`${pathOf(ref)}/slots`, { since, outcome, limit: 20 }, signal);
}

/** `force`: beside an unfinished Job that the policy would not allow. */
export function triggerCronJob(ref: Ref, force: boolean): Promise<TriggerResult> {
  return act('POST', `${pathOf(ref)}/trigger`, undefined, force ? { force } : {});
}

export function suspendCronJob(ref: Ref): Promise<SuspendResult> {
  return act('POST', `${pathOf(ref)}/suspend`);
}

export function resumeCronJob(ref: Ref): Promise<SuspendResult> {
  return act('POST', `${pathOf(ref)}/resume`);
}

export function deleteHistoryOf(ref: Ref): Promise<DeleteHistoryResult> {
  return act('DELETE', `${pathOf(ref)}/history`);
}

export function pathOf({ namespace, name }: Ref): `cronjobs/${string}/${string}` {
  return `cronjobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`;
}
