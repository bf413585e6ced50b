import type { CronJob, CronJobList, MonitorDetail, Ref } from '@cronjob-monitor/shared/contract';
import { listCronJobs } from '../../api/cronjobs.ts';
import { getMonitor } from '../../api/monitors.ts';
import { refsOf, withRow } from '../../state/concerns.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { Windows } from '../../state/windows.svelte.ts';

/** One monitor, and the CronJobs it selects, worst first. */
export class MonitorState {
  readonly detail: Resource<MonitorDetail>;
  readonly cronJobs: Windows<CronJob, CronJobList>;

  constructor({ namespace, name }: Ref) {
    this.detail = new Resource((signal) => getMonitor({ namespace, name }, signal), {
      concerns: (hint) =>
        (hint.kind === 'monitor' && hint.data.namespace === namespace && hint.data.name === name) ||
        hint.kind === 'overview',
      fleetPauseMs: 60_000,
    });
    this.cronJobs = new Windows({
      load: (range, signal) =>
        listCronJobs({ monitor: `${namespace}/${name}`, sort: 'status', recent: 30, ...range }, signal),
      keyOf: (cronJob) => `${cronJob.namespace}/${cronJob.name}`,
      concerns: ({ kind }) => kind === 'overview',
      merge: withRow,
      refs: refsOf,
    });
  }
}
