import {
  slaGroups,
  slaSortKeys,
  slaSubjects,
  slaTargetVerdicts,
  type Pagination,
  type SlaList,
  type SlaSubject,
  type SlaTargetVerdict,
} from '@cronjob-monitor/shared/contract';
import { listMonitors } from '../../api/monitors.ts';
import { listTargets, type SlaFilters } from '../../api/sla.ts';
import { router } from '../../router.svelte.ts';
import { countIn, listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const targetsPerPage = 100;
const sorts = slaSortKeys.flatMap((key) => [key, `-${key}`] as const);

/** Every target of every monitor, the least margin first. Filters, order and page are in the address. */
export class SlaState {
  readonly monitors = new Resource((signal) => listMonitors({}, signal), { isLive: false });
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly subjects: readonly SlaSubject[] = $derived(wordsIn(router.query, 'subject', slaSubjects));
  readonly verdicts: readonly SlaTargetVerdict[] = $derived(wordsIn(router.query, 'verdict', slaTargetVerdicts));
  readonly sort = $derived(wordIn(router.query, 'sort', sorts, 'margin'));
  /** Whose targets stand together. */
  readonly group = $derived(wordIn(router.query, 'group', ['none', ...slaGroups] as const, 'none'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(
    this.search !== '' ||
      this.monitor !== '' ||
      this.namespaces.length + this.subjects.length + this.verdicts.length > 0,
  );

  /** What an export asks for too. */
  readonly filters: SlaFilters & { readonly sort: string } = $derived({
    search: this.search,
    namespace: this.namespaces,
    monitor: this.monitor,
    subject: this.subjects,
    verdict: this.verdicts,
    sort: this.sort,
    group: this.group === 'none' ? undefined : this.group,
  });

  readonly targets: Resource<SlaList & { readonly pagination: Pagination }> = $derived.by(() => {
    const { filters, offset } = this;
    return new Resource((signal) => listTargets({ ...filters, limit: targetsPerPage, offset }, signal), {
      concerns: ({ kind }) => kind === 'overview' || kind === 'monitor',
      fleetPauseMs: 60_000,
    });
  });

  readonly knownNamespaces: readonly string[] = $derived.by(() => {
    const seen = new Set(this.namespaces);
    for (const { namespace } of this.monitors.value?.items ?? []) seen.add(namespace);
    for (const { cronjob } of this.targets.value?.items ?? []) seen.add(cronjob.namespace);
    return [...seen].sort();
  });

  change(changes: Readonly<Record<string, string | undefined>>, how: 'push' | 'replace' = 'push'): void {
    router.setQuery({ offset: undefined, ...changes }, how);
  }
}
