import type { Incident, IncidentList } from '@cronjob-monitor/shared/contract';
import { listIncidentsOfAll } from '../../api/clusters.ts';
import { addressOf, router } from '../../router.svelte.ts';
import { countIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const incidentsPerPage = 50;

/** What is not well in any cluster; which page of it is in the address. */
export class ClustersPageState {
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));

  readonly incidents: Resource<IncidentList> = $derived.by(() => {
    const question = { limit: incidentsPerPage, offset: this.offset };
    return new Resource((signal) => listIncidentsOfAll(question, signal), {
      concerns: ({ kind }) => kind === 'overview' || kind === 'silence',
      fleetPauseMs: 60_000,
    });
  });

  move(offset: number): void {
    router.setQuery({ offset: offset === 0 ? undefined : String(offset) });
  }
}

/** Where an incident is read, in its own cluster: one that is expected and not there has its alert alone. */
export function placeOfIncident({ cluster, cronjob, verdict, alerts }: Incident): string {
  const [alert] = alerts;
  if (verdict.kind === 'absent' && alert) return addressOf('alert', { id: alert.id }, { cluster });
  return addressOf('cronjob', { ...cronjob }, { cluster });
}
