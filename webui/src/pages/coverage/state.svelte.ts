import {
  coverageSortKeys,
  coverageStates,
  type CoverageList,
  type CoverageState,
} from '@cronjob-monitor/shared/contract';
import { listCoverage } from '../../api/overview.ts';
import { router } from '../../router.svelte.ts';
import { countIn, listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const cronJobsPerPage = 100;
const sorts = coverageSortKeys.flatMap((key) => [key, `-${key}`]);

/** Every CronJob by whether its alerts would be heard; which of them are shown is in the address. */
export class CoveragePageState {
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly states: readonly CoverageState[] = $derived(wordsIn(router.query, 'state', coverageStates));
  readonly sort: string = $derived(wordIn(router.query, 'sort', sorts, 'state'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(this.search !== '' || this.namespaces.length > 0 || this.states.length > 0);

  readonly list: Resource<CoverageList> = $derived.by(() => {
    const { search, namespaces, states, sort, offset } = this;
    const question = { search, namespace: namespaces, state: states, sort, limit: cronJobsPerPage, offset };
    return new Resource((signal) => listCoverage(question, signal), {
      concerns: ({ kind }) => kind === 'monitor' || kind === 'channel' || kind === 'overview',
      fleetPauseMs: 60_000,
    });
  });

  readonly knownNamespaces: readonly string[] = $derived(
    [...new Set([...this.namespaces, ...(this.list.value?.items ?? []).map(({ namespace }) => namespace)])].sort(),
  );

  /** Another view begins at its first page. */
  change(query: Readonly<Record<string, string | undefined>>, how?: 'replace'): void {
    router.setQuery({ offset: undefined, ...query }, how);
  }
}
