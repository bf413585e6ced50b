import {
  cronJobSortKeys,
  healthStates,
  type CronJob,
  type CronJobList,
  type CronJobSortKey,
  type HealthState,
} from '@cronjob-monitor/shared/contract';
import type { Query } from '../../api/client.ts';
import { listCronJobs, type CronJobQuery } from '../../api/cronjobs.ts';
import { listMonitors } from '../../api/monitors.ts';
import { listText } from '../../format/figures.ts';
import { runningMark, stateMarks } from '../../format/marks.ts';
import { router } from '../../router.svelte.ts';
import { refsOf, withRow } from '../../state/concerns.ts';
import { listIn, wordIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { Windows } from '../../state/windows.svelte.ts';

const sorts = cronJobSortKeys.flatMap((key) => [key, `-${key}`] as const);
type Sort = CronJobSortKey | `-${CronJobSortKey}`;
const defaultSort: Sort = 'status';

/** States, and what stands beside them. */
export const stateFilters = [...healthStates, 'running'] as const;
type StateFilter = (typeof stateFilters)[number];

/** What the address of the list says. */
export interface CronJobFilters {
  readonly search: string;
  readonly namespaces: readonly string[];
  readonly states: readonly StateFilter[];
  readonly monitor: string;
  readonly includeRemoved: boolean;
  /** Groups of Jobs in place of CronJobs. */
  readonly isOfJobs: boolean;
  readonly sort: Sort;
}

export function readFilters(query: URLSearchParams): CronJobFilters {
  return {
    search: query.get('q') ?? '',
    namespaces: listIn(query, 'ns'),
    states: wordsIn(query, 'state', stateFilters),
    monitor: query.get('monitor') ?? '',
    includeRemoved: query.get('removed') === '1',
    isOfJobs: query.get('kind') === 'Jobs',
    sort: wordIn(query, 'sort', sorts, defaultSort),
  };
}

/** The list of all CronJobs: its view is in the address, its rows come in windows. */
export class CronJobsState {
  readonly monitors = new Resource((signal) => listMonitors({}, signal), {
    concerns: ({ kind }) => kind === 'monitor',
  });

  readonly filters: CronJobFilters = $derived(readFilters(router.query));

  readonly isFiltered: boolean = $derived.by(() => {
    const { search, namespaces, states, monitor, includeRemoved } = this.filters;
    return search !== '' || namespaces.length > 0 || states.length > 0 || monitor !== '' || includeRemoved;
  });

  /** The same view without its page, for a file of all its rows. */
  readonly exported: Query = $derived.by(() => {
    const { recent: _, ...query } = toQuery(this.filters);
    return query;
  });

  /** Another question, another list. */
  readonly #question: string = $derived(JSON.stringify(this.filters));
  readonly asked: Windows<CronJob, CronJobList> = $derived.by(() => {
    const filters = JSON.parse(this.#question) as CronJobFilters; // made of the same type in the line above
    return new Windows({
      load: (range, signal) => listCronJobs({ ...toQuery(filters), ...range }, signal),
      keyOf: ({ namespace, name }) => `${namespace}/${name}`,
      concerns: ({ kind }) => kind === 'overview' || kind === 'silence',
      merge: withRow,
      refs: refsOf,
    });
  });

  #answered: Windows<CronJob, CronJobList> | undefined;
  /** The list that was asked for; until its first answer the one before, so that nothing flickers. */
  readonly list: Windows<CronJob, CronJobList> = $derived.by(() => {
    const { asked } = this;
    if (asked.newest !== undefined || asked.failures.length > 0) this.#answered = asked;
    return this.#answered ?? asked;
  });

  /** Names to choose among: those of monitors and of rows that were seen. Others can be typed. */
  readonly namespaces: readonly string[] = $derived.by(() => {
    const seen = new Set(this.filters.namespaces);
    for (const { namespace } of this.monitors.value?.items ?? []) seen.add(namespace);
    for (const { namespace } of this.list.newest?.items ?? []) seen.add(namespace);
    return [...seen].sort();
  });

  /** Pointer or focus is inside. Focus leaves with the page too, when nothing may be derived from the address any more. */
  hold(isInside: boolean): void {
    if (isInside) this.#answered?.hold();
    else this.#answered?.release();
  }

  start(): () => void {
    return this.monitors.start();
  }

  /** Changes the view; what equals its default leaves the address. */
  change(filters: Partial<CronJobFilters>, how: 'push' | 'replace' = 'push'): void {
    const next = { ...this.filters, ...filters };
    router.setQuery(
      {
        q: next.search,
        ns: next.namespaces.join(','),
        state: next.states.join(','),
        monitor: next.monitor,
        removed: next.includeRemoved ? '1' : undefined,
        kind: next.isOfJobs ? 'Jobs' : undefined,
        sort: next.sort === defaultSort ? undefined : next.sort,
      },
      how,
    );
  }

  sortBy(sort: string): void {
    this.change({ sort: wordIn(new URLSearchParams({ sort }), 'sort', sorts, defaultSort) });
  }

  clear(): void {
    this.change({ search: '', namespaces: [], states: [], monitor: '', includeRemoved: false });
  }
}

function toQuery({
  search,
  namespaces,
  states,
  monitor,
  includeRemoved,
  isOfJobs,
  sort,
}: CronJobFilters): CronJobQuery {
  return {
    search,
    namespace: namespaces,
    state: states.filter((state): state is HealthState => state !== 'running'),
    status: states.includes('running') ? ['running'] : [],
    monitor,
    sort,
    recent: 30,
    ...(includeRemoved ? { includeRemoved } : {}),
    ...(isOfJobs ? { kind: ['Jobs' as const] } : {}),
  };
}

const marks = { ...stateMarks, running: runningMark };

/** Names what was looked for and not found: `No CronJob matches critical in prod`. */
export function emptyText({ search, namespaces, states, monitor, isOfJobs }: CronJobFilters): string {
  const what = [states.map((state) => marks[state].word.toLowerCase()).join(' or '), search === '' ? '' : `"${search}"`]
    .filter(Boolean)
    .join(' and ');
  const where = [
    namespaces.length > 0 ? `in ${listText(namespaces)}` : '',
    monitor === '' ? '' : `of monitor ${monitor}`,
  ].filter(Boolean);
  return [isOfJobs ? 'No group of Jobs matches' : 'No CronJob matches', what, ...where]
    .filter(Boolean)
    .join(' ')
    .replace(/matches (in|of)/, 'is $1');
}
