import type { Grid, SlotOutcome, Timeline } from '@cronjob-monitor/shared/contract';
import { getGrid, getTimeline } from '../../api/timeline.ts';
import { listMonitors } from '../../api/monitors.ts';
import { router } from '../../router.svelte.ts';
import { countIn, listIn, wordIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

/** What lies ahead, or what was. */
export const views = ['next24', 'next7', 'past24', 'past7'] as const;
export type View = (typeof views)[number];
export const lanesPerPage = 50;

export const outcomeFilters = ['all', 'missed', 'skipped', 'unseen'] as const;
export type OutcomeFilter = (typeof outcomeFilters)[number];
const outcomesOf: Readonly<Record<OutcomeFilter, readonly SlotOutcome[]>> = {
  all: [],
  missed: ['missed'],
  skipped: ['skippedForbid', 'skippedDeadline', 'suspended'],
  unseen: ['unobserved', 'indeterminate'],
};

/** The fleet on an axis of time. The view is in the address. */
export class TimelineState {
  readonly monitors = new Resource((signal) => listMonitors({}, signal), { isLive: false });
  readonly view: View = $derived(wordIn(router.query, 'view', views, 'next24'));
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly outcome: OutcomeFilter = $derived(wordIn(router.query, 'outcome', outcomeFilters, 'all'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(this.search !== '' || this.namespaces.length > 0 || this.monitor !== '');
  readonly isPast: boolean = $derived(this.view === 'past24' || this.view === 'past7');
  readonly #hours: number = $derived(this.view === 'next24' || this.view === 'past24' ? 24 : 168);

  readonly #question = $derived({
    hours: this.#hours,
    search: this.search,
    namespace: this.namespaces,
    monitor: this.monitor,
    limit: lanesPerPage,
    offset: this.offset,
  });

  readonly ahead: Resource<Timeline> | undefined = $derived.by(() => {
    const question = this.#question;
    if (this.isPast) return undefined;
    return new Resource((signal) => getTimeline(question, signal), { concerns: ({ kind }) => kind === 'cronjob' });
  });

  readonly past: Resource<Grid> | undefined = $derived.by(() => {
    const question = { ...this.#question, outcome: outcomesOf[this.outcome] };
    if (!this.isPast) return undefined;
    return new Resource((signal) => getGrid(question, signal), { concerns: ({ kind }) => kind === 'execution' });
  });

  readonly knownNamespaces: readonly string[] = $derived.by(() => {
    const seen = new Set(this.namespaces);
    for (const { namespace } of this.monitors.value?.items ?? []) seen.add(namespace);
    for (const { namespace } of (this.ahead ?? this.past)?.value?.items ?? []) seen.add(namespace);
    return [...seen].sort();
  });

  change(changes: Readonly<Record<string, string | undefined>>, how: 'push' | 'replace' = 'push'): void {
    router.setQuery({ offset: undefined, ...changes }, how);
  }
}
