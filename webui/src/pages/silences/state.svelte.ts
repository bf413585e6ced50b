import type { Page, Silence, SilenceList } from '@cronjob-monitor/shared/contract';
import { getSilence, listSilences, pageSilences } from '../../api/silences.ts';
import { router } from '../../router.svelte.ts';
import { countIn, listIn, wordIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const silencesPerPage = 50;
const views = ['now', 'expired'] as const;

/** What is muted now or will be, and what was. The view and the open form are in the address. */
export class SilencesState {
  readonly view = $derived(wordIn(router.query, 'view', views, 'now'));
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'in'));
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  /** `new`, or the id of the one that is changed. */
  readonly form: string | undefined = $derived(router.query.get('form') ?? undefined);

  readonly open: Resource<SilenceList> = $derived.by(() => {
    const question = { state: ['active', 'scheduled'] as const, namespace: this.namespaces };
    return new Resource((signal) => listSilences(question, signal), {
      concerns: ({ kind }) => kind === 'silence' || kind === 'overview',
      fleetPauseMs: 60_000,
    });
  });

  readonly expired: Resource<Page<Silence>> = $derived.by(() => {
    const { offset } = this;
    const question = {
      state: ['expired'] as const,
      namespace: this.namespaces,
      sort: '-endsAt',
      limit: silencesPerPage,
    };
    return new Resource((signal) => pageSilences({ ...question, offset }, signal), {
      concerns: ({ kind }) => kind === 'silence',
    });
  });

  /** The one that is changed; undefined for a new one. */
  readonly changed: Resource<Silence> | undefined = $derived.by(() => {
    const id = this.form;
    return id === undefined || id === 'new'
      ? undefined
      : new Resource((signal) => getSilence(id, signal), { isLive: false });
  });

  readonly groups: readonly { readonly name: string; readonly silences: readonly Silence[] }[] = $derived.by(() => {
    const items = this.open.value?.items ?? [];
    return [
      { name: 'Active', silences: items.filter(({ state }) => state === 'active') },
      { name: 'Scheduled', silences: items.filter(({ state }) => state === 'scheduled') },
    ].filter(({ silences }) => silences.length > 0);
  });

  readonly knownNamespaces: readonly string[] = $derived.by(() => {
    const seen = [...(this.open.value?.items ?? []), ...(this.expired.value?.items ?? [])];
    return [...new Set([...this.namespaces, ...seen.flatMap(({ matcher }) => matcher.namespaces)])].sort();
  });
}
