import { statesText, wrongStates } from '../../format/verdict.ts';
import type { Column } from '../../kit/table/column.ts';
import {
  monitorPhases,
  monitorSortKeys,
  type Monitor,
  type MonitorList,
  type MonitorPhase,
} from '@cronjob-monitor/shared/contract';
import { listMonitors } from '../../api/monitors.ts';
import { router } from '../../router.svelte.ts';
import { listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

const sorts = ['', ...monitorSortKeys.flatMap((key) => [key, `-${key}`])];

/** All monitors; which of them are shown is in the address. */
export class MonitorsState {
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly phases: readonly MonitorPhase[] = $derived(wordsIn(router.query, 'phase', monitorPhases));
  /** Empty: not well first, then most alerts. */
  readonly sort: string = $derived(wordIn(router.query, 'sort', sorts, ''));
  readonly isFiltered: boolean = $derived(this.search !== '' || this.namespaces.length > 0 || this.phases.length > 0);

  readonly list: Resource<MonitorList> = $derived.by(() => {
    const { search, namespaces, phases, sort } = this;
    return new Resource((signal) => listMonitors({ search, namespace: namespaces, phase: phases, sort }, signal), {
      concerns: ({ kind }) => kind === 'monitor' || kind === 'overview',
      fleetPauseMs: 60_000,
    });
  });

  /** The server's order, or, where none was chosen, what needs a look first. */
  readonly shown: readonly Monitor[] = $derived.by(() => {
    const items = this.list.value?.items ?? [];
    return this.sort === '' ? [...items].sort(byNeed) : items;
  });

  readonly knownNamespaces: readonly string[] = $derived(
    [...new Set([...this.namespaces, ...this.shown.map(({ namespace }) => namespace)])].sort(),
  );
}

function byNeed(a: Monitor, b: Monitor): number {
  const phase = monitorPhases.indexOf(a.phase) - monitorPhases.indexOf(b.phase);
  return (
    phase ||
    b.activeAlerts - a.activeAlerts ||
    (a.namespace < b.namespace ? -1 : a.namespace > b.namespace ? 1 : a.name < b.name ? -1 : 1)
  );
}

export const columns: readonly Column[] = [
  { id: 'phase', title: 'Phase', width: '132px', sortKey: 'phase', card: 'aside', cardOrder: 2 },
  { id: 'name', title: 'Name', width: '20%', sortKey: 'name', card: 'lead', cardOrder: 1 },
  {
    id: 'cronjobs',
    title: 'CronJobs',
    width: '208px',
    sortKey: 'cronJobCount',
    falls: true,
    card: 'full',
    cardOrder: 3,
  },
  {
    id: 'alerts',
    title: 'Alerts',
    width: '72px',
    align: 'end',
    sortKey: 'activeAlerts',
    falls: true,
    card: 'aside',
    cardOrder: 6,
    hasCardLabel: true,
  },
  { id: 'problems', title: 'Problems', card: 'full', cardOrder: 4 },
  {
    id: 'reconciled',
    title: 'Reconciled',
    width: '128px',
    sortKey: 'lastReconcile',
    falls: true,
    card: 'lead',
    cardOrder: 5,
    hideBelow: 1024,
  },
];

export function cronJobsText({ cronJobCount, states }: Monitor): string {
  if (cronJobCount === 0) return 'It selects none';
  return statesText(states, wrongStates) || statesText(states, ['unknown']) || 'none broken';
}
