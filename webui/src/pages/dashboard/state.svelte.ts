import { untrack } from 'svelte';
import type { Overview, Stats } from '@cronjob-monitor/shared/contract';
import { getOverview } from '../../api/overview.ts';
import type { Hint } from '../../api/stream.ts';
import { hasSameStates } from '../../state/concerns.ts';
import { now } from '../../state/now.svelte.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { session, stillHealthy } from '../../state/session.svelte.ts';

/** Changes that may change the answer; runs are in the counts, which the stream carries. */
const kinds: ReadonlySet<Hint['kind']> = new Set(['overview', 'alert', 'silence', 'monitor', 'channel', 'health']);

const everyMs = 60_000;

/** What the first page shows, all of it from one answer: what is wrong, what comes next, what was, and how the service is. */
export class DashboardState {
  /** In whose morning, or evening, the answer ends tonight. */
  #zone: string | undefined;
  readonly overview = new Resource<Overview>((signal) => this.#ask(signal), {
    concerns: ({ kind }) => kinds.has(kind),
    merge: (overview, hint) => {
      if (hint.kind === 'overview') return this.#withCounts(overview, hint.data.stats);
      const service = stillHealthy(overview.service, hint);
      return service && { ...overview, service };
    },
    fleetPauseMs: everyMs,
  });

  readonly #hasFailed: boolean = $derived(this.overview.error !== undefined);

  readonly cronJobs: number = $derived(
    Object.values(this.overview.value?.states ?? {}).reduce((sum, count) => sum + count, 0),
  );

  /** What is old is no news: that all is fine is not said of it. */
  readonly isOld: boolean = $derived(this.overview.isStale || this.#hasFailed);

  /** The rail, the title and the banners are about the same answer. Fit for an effect. */
  tellSession(): void {
    const { value, answeredAt } = this.overview;
    if (value && answeredAt !== undefined) untrack(() => session.take(value));
  }

  /** Without the answer the rest of the page still says how the service is. Fit for an effect. */
  standIn(): (() => void) | undefined {
    return this.#hasFailed ? session.follow() : undefined;
  }

  /** Another zone has its morning at another instant. Fit for an effect. */
  followZone(): void {
    if (preferences.timeZone !== this.#zone) untrack(() => void this.overview.refresh());
  }

  /**
   * Runs that begin and end change no incident: on a busy fleet they would take the few quick looks from what does. A minute later it is
   * asked all the same, since one may have become well as another broke.
   */
  #withCounts(overview: Overview, { states, summary }: Stats): Overview | undefined {
    const isYoung = now.ms - (this.overview.answeredAt ?? 0) < everyMs;
    return hasSameStates(states, overview.states) && isYoung ? { ...overview, running: summary.running } : undefined;
  }

  #ask(signal: AbortSignal): ReturnType<typeof getOverview> {
    this.#zone = preferences.timeZone;
    return getOverview({ zone: this.#zone }, signal);
  }
}
