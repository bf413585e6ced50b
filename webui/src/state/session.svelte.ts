import { untrack } from 'svelte';
import type { Ability, AdviceList, Health, Overview, Stats } from '@cronjob-monitor/shared/contract';
import { onTokenRefused, useToken } from '../api/client.ts';
import { getHealth, getStats, getWhoami, listAdvice } from '../api/overview.ts';
import { missingRight, readOnlyText } from '../format/rights.ts';
import { clusters } from './clusters.svelte.ts';
import { preferences } from './preferences.svelte.ts';
import { Resource } from './resource.svelte.ts';
import type { Hint } from '../api/stream.ts';

/** Whether a button may be used, and if not, what is missing. */
export interface Right {
  readonly isAllowed: boolean;
  readonly missing: string | undefined;
}

/** What every page needs: how the service is, how many CronJobs are how, and who asks. */
class Session {
  readonly health = new Resource((signal) => getHealth(signal), {
    concerns: ({ kind }) => kind === 'health',
    merge: stillHealthy,
  });
  readonly stats = new Resource<Pick<Stats, 'states' | 'channels'>>((signal) => getStats(signal), {
    concerns: ({ kind }) => kind === 'overview' || kind === 'channel',
    merge: (_, hint) => (hint.kind === 'overview' ? hint.data.stats : undefined),
    fleetPauseMs: 60_000,
  });
  /** How much there is to mend: asked for once, and by the page of it again. */
  readonly advice = new Resource<{ readonly counts: Pick<AdviceList['counts'], 'findings'> }>(
    (signal) => listAdvice({ limit: 1 }, signal),
    { isLive: false },
  );
  /** How often `follow` was begun and has not ended. */
  #followers = 0;
  readonly #stops: (() => void)[] = [];
  readonly whoami = new Resource((signal) => getWhoami(undefined, signal), { isLive: false });
  readonly #ofFleet = [this.health, this.stats, this.advice] as const;
  readonly #byNamespace = new Map<string, Resource<Awaited<ReturnType<typeof getWhoami>>['value']>>();

  /** Begins with the page. Returns what ends it. */
  start(): () => void {
    // A token ends while the page is open: who we are is then asked again, and the answer leads to the sign-in.
    const followRefusals = onTokenRefused(() => void this.whoami.refresh());
    const stop = this.whoami.start();
    return () => {
      stop();
      followRefusals();
    };
  }

  /** How the service and the fleet are is asked for, and asked again as things change; a page whose own answer tells it does without. Returns what ends it. */
  follow(): () => void {
    return untrack(() => {
      const stops = this.#followers++ === 0 ? [this.health.start(), this.stats.start(), this.#learnAdvice()] : [];
      this.#stops.push(...stops);
      return () => {
        if (--this.#followers > 0) return;
        for (const stop of this.#stops.splice(0)) stop();
      };
    });
  }

  /** What a page was answered. */
  take({ states, channels, findings, service }: Overview): void {
    this.health.give(service);
    this.stats.give({ states, channels });
    this.advice.give({ counts: { findings } });
  }

  #learnAdvice(): () => void {
    return this.advice.value === undefined ? this.advice.start() : () => {};
  }

  /** Who asks is known, or cannot be known now: a page may be drawn without a banner pushing it aside. */
  readonly isIntroduced: boolean = $derived.by(
    () => this.whoami.value !== undefined || this.whoami.error !== undefined,
  );

  /** The service asks for a token, and has none of ours or refused it. */
  readonly needsToken: boolean = $derived.by(() => {
    const { value, error } = this.whoami;
    return error?.status === 401 || (value?.mode === 'token' && !value.authenticated);
  });

  /** Another cluster is shown: rights, counts and health are its own. */
  restart(): void {
    this.#byNamespace.clear();
    void this.whoami.restart();
    for (const part of this.#ofFleet) {
      part.clear();
      if (this.#followers > 0) void part.refresh();
    }
  }

  /** Keeps a token for this tab, and asks again who we are. */
  async signIn(token: string): Promise<void> {
    useToken(token);
    this.#byNamespace.clear(); // rights of the caller before
    await this.whoami.refresh();
    if (this.whoami.error?.status === 401) useToken(null);
    else if (this.#followers > 0) await Promise.all(this.#ofFleet.map((part) => part.refresh()));
  }

  /** Whether the caller may, in one namespace where the ability has one. The server decides; this only explains. */
  right(ability: Ability, namespace?: string): Right {
    const general = this.whoami.value;
    if (!general) return { isAllowed: false, missing: 'Not known yet what you may do' };
    const value =
      general.mode === 'none' || namespace === undefined ? general : (this.#ofNamespace(namespace).value ?? general);
    const away = clusters.missing(ability);
    if (away !== undefined) return { isAllowed: false, missing: away };
    if (value.can[ability]) return { isAllowed: true, missing: undefined };
    return { isAllowed: false, missing: value.readOnly ? readOnlyText : missingRight(ability, namespace) };
  }

  #ofNamespace(namespace: string): Resource<Awaited<ReturnType<typeof getWhoami>>['value']> {
    let known = this.#byNamespace.get(namespace);
    if (!known) {
      known = new Resource((signal) => getWhoami(namespace, signal), { isLive: false });
      this.#byNamespace.set(namespace, known);
      const asked = known;
      queueMicrotask(() => void asked.refresh()); // not while something is drawn
    }
    return known;
  }
}

export const session = new Session();

/** The cluster's zone is known as soon as the service says who we are. */
export function followClusterZone(): void {
  const zone = session.whoami.value?.defaultTimeZone ?? session.health.value?.defaultTimeZone;
  if (zone !== undefined) preferences.clusterZone = zone;
}

/**
 * Health after a change of it. Of a service that stays healthy the change says what is new: when it evaluated last. Undefined where it does
 * not: problems, and who leads, have to be asked for.
 */
export function stillHealthy(before: Health, hint: Hint): Health | undefined {
  if (hint.kind !== 'health') return undefined;
  const { status, storage, ready, leader, lastEvaluation } = hint.data;
  const isSame = before.status === 'healthy' && status === 'healthy' && leader === before.leader;
  const hasBegun = before.lastEvaluation !== null && lastEvaluation !== null;
  return isSame && hasBegun ? { ...before, storage, ready, lastEvaluation } : undefined;
}
