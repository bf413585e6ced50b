import {
  adviceLevels,
  type Advice,
  type AdviceKind,
  type AdviceLevel,
  type AdviceList,
} from '@cronjob-monitor/shared/contract';
import { listMonitors } from '../../api/monitors.ts';
import { listAdvice } from '../../api/overview.ts';
import { router } from '../../router.svelte.ts';
import { countIn, listIn, wordsIn } from '../../state/filters.ts';
import { Resource } from '../../state/resource.svelte.ts';

export const findingsPerPage = 100;

/** The findings of one kind that a page shows. */
interface ShownKind extends AdviceKind {
  readonly items: readonly Advice[];
}

/** What is to be changed, by kind; which of it is shown is in the address. */
export class AdviceState {
  readonly monitors = new Resource((signal) => listMonitors({}, signal), { isLive: false });
  readonly search: string = $derived(router.query.get('q') ?? '');
  readonly namespaces: readonly string[] = $derived(listIn(router.query, 'ns'));
  readonly monitor: string = $derived(router.query.get('monitor') ?? '');
  readonly cronjob: string = $derived(router.query.get('cronjob') ?? '');
  readonly levels: readonly AdviceLevel[] = $derived(wordsIn(router.query, 'level', adviceLevels));
  readonly codes: readonly string[] = $derived(listIn(router.query, 'kind'));
  /** Those that their owners left, in place of the others. */
  readonly isLeft: boolean = $derived(router.query.get('left') === '1');
  readonly offset: number = $derived(countIn(router.query, 'offset', 0));
  readonly isFiltered: boolean = $derived(
    this.search + this.monitor + this.cronjob !== '' ||
      this.namespaces.length + this.levels.length + this.codes.length > 0 ||
      this.isLeft,
  );

  readonly list: Resource<AdviceList> = $derived.by(() => {
    const { search, namespaces, monitor, cronjob, levels, codes, isLeft, offset } = this;
    const narrowed = { search, namespace: namespaces, monitor, cronjob, level: levels, code: codes };
    const question = { ...narrowed, ignored: isLeft || undefined, limit: findingsPerPage, offset };
    return new Resource((signal) => listAdvice(question, signal), {
      concerns: ({ kind }) => kind === 'monitor' || kind === 'channel',
    });
  });

  /** Kinds with findings on this page, worst first. */
  readonly shown: readonly ShownKind[] = $derived.by(() => {
    const { items = [], counts } = this.list.value ?? {};
    const ofKind = Map.groupBy(items, ({ code }) => code);
    return (counts?.kinds ?? []).flatMap((kind) => {
      const found = ofKind.get(kind.code);
      return found ? [{ ...kind, items: found }] : [];
    });
  });

  readonly knownNamespaces: readonly string[] = $derived(
    [
      ...new Set([
        ...this.namespaces,
        ...(this.list.value?.items ?? []).flatMap(({ cronjob, monitor }) => (cronjob ?? monitor)?.namespace ?? []),
      ]),
    ].sort(),
  );

  /** Another view begins at its first page. */
  change(query: Readonly<Record<string, string | undefined>>, how?: 'replace'): void {
    router.setQuery({ offset: undefined, ...query }, how);
  }
}
