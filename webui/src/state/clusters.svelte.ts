import { untrack } from 'svelte';
import { actingAbilities, elsewhereAbilities, type Ability, type Cluster } from '@cronjob-monitor/shared/contract';
import { useClusters } from '../api/client.ts';
import { listClusters } from '../api/clusters.ts';
import { router } from '../router.svelte.ts';
import { live } from './live.svelte.ts';
import { Persisted } from './preferences.svelte.ts';
import { Resource } from './resource.svelte.ts';
import { every } from './timer.ts';

/** A cluster that falls silent says nothing of it: it is asked for. */
const askEveryMs = 60_000;

/** What is done somewhere, and not only read. */
const acts: ReadonlySet<Ability> = new Set(actingAbilities);
const askedThere: ReadonlySet<Ability> = new Set(elsewhereAbilities);

/**
 * The clusters that the service shows, and the one that this page shows: that of its address, else the home cluster. A service with one
 * cluster is asked as if there were no clusters. That it has several is known from the second visit on before anything is asked.
 */
export class Clusters {
  readonly #knownHome = new Persisted<string>('home-cluster', '', (value) => typeof value === 'string');
  #asking: Promise<void> | undefined;
  readonly list = new Resource((signal) => listClusters(signal), { isLive: false });

  readonly all: readonly Cluster[] = $derived.by(() => this.list.value?.items ?? []);
  readonly isSeveral: boolean = $derived.by(() => this.all.length > 1);

  /** The name that every request bears; undefined: none. */
  readonly asked: string | undefined = $derived.by(() => {
    if (router.cluster !== '') return router.cluster;
    const home = this.list.value ? this.#home() : this.#knownHome.value;
    return home === '' ? undefined : home;
  });

  /** The cluster that is shown, where there are several. */
  readonly shown: Cluster | undefined = $derived.by(() =>
    this.isSeveral ? this.all.find(({ name }) => name === this.asked) : undefined,
  );

  /** The address names a cluster that this service does not show to this caller. */
  readonly isUnknown: boolean = $derived.by(
    () => router.cluster !== '' && this.all.length > 0 && !this.all.some(({ name }) => name === router.cluster),
  );

  /** Requests name the cluster from now on. */
  start(): void {
    useClusters({ shown: () => untrack(() => this.asked), learn: () => this.#ask() });
  }

  /** Asks which clusters there are, at once where there were several, else once the page has nothing better to do. Returns what ends it. */
  learn(): () => void {
    return untrack(() => {
      const ask = (): void => void this.#ask();
      const idle = this.asked === undefined ? requestIdleCallback(ask, { timeout: 2_000 }) : undefined;
      if (idle === undefined) ask();
      const stop = every(askEveryMs, () => {
        if (this.isSeveral && !live.isResting) ask();
      });
      return () => {
        if (idle !== undefined) cancelIdleCallback(idle);
        stop();
        this.list.stop();
      };
    });
  }

  /** Why what changes something cannot be done in the cluster that is shown; undefined: it can. */
  missing(ability: Ability): string | undefined {
    const { shown } = this;
    if (!shown || shown.home || !acts.has(ability)) return undefined;
    return this.lack ?? (askedThere.has(ability) ? undefined : `Only done by the service of ${shown.name} itself`);
  }

  /** Why nothing is done in the cluster that is shown, and no log followed; undefined: a service there does most of it. */
  get lack(): string | undefined {
    const { shown } = this;
    return shown && !shown.home && !shown.actions ? `No service in ${shown.name} acts for callers here` : undefined;
  }

  /** What is offered after something was done in the cluster `before`: nothing once another one is shown. */
  offerIn<Offer extends object>(before: string | undefined, offer: Offer): Offer | Record<string, never> {
    return before === this.asked ? offer : {};
  }

  /** Several lists of a first visit may ask at once: all of them wait for the one answer. */
  #ask(): Promise<void> {
    this.#asking ??= this.#askNow().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #askNow(): Promise<void> {
    await this.list.refresh();
    if (this.list.value && !this.list.error) this.#knownHome.value = this.#home();
  }

  /** Empty: there is one cluster alone, which need not be named. */
  #home(): string {
    if (!this.isSeveral) return '';
    return (this.all.find(({ home }) => home) ?? this.all[0])?.name ?? '';
  }
}

export const clusters = new Clusters();
