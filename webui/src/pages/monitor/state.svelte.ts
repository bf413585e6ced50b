import type { IncidentList, MonitorDetail, Ref } from '@cronjob-monitor/shared/contract';
import { getMonitor } from '../../api/monitors.ts';
import { listIncidents } from '../../api/overview.ts';
import { Resource } from '../../state/resource.svelte.ts';

const mostIncidents = 50;

/** One monitor, and those of its CronJobs that are not well, worst first. */
export class MonitorState {
  readonly detail: Resource<MonitorDetail>;
  readonly incidents: Resource<IncidentList>;

  constructor({ namespace, name }: Ref) {
    this.detail = new Resource((signal) => getMonitor({ namespace, name }, signal), {
      concerns: (hint) =>
        (hint.kind === 'monitor' && hint.data.namespace === namespace && hint.data.name === name) ||
        hint.kind === 'overview',
      fleetPauseMs: 60_000,
    });
    this.incidents = new Resource(
      (signal) => listIncidents({ monitor: `${namespace}/${name}`, limit: mostIncidents }, signal),
      { concerns: ({ kind }) => kind === 'overview' || kind === 'silence', fleetPauseMs: 60_000 },
    );
  }
}
