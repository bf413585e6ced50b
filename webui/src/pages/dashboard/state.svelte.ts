import { untrack } from 'svelte';
import type { Overview, StreamData } from '@cronjob-monitor/shared/contract';
import { getOverview } from '../../api/overview.ts';
import type { Hint } from '../../api/stream.ts';
import { hasSameStates } from '../../state/concerns.ts';
import { now } from '../../state/now.svelte.ts';
import { preferences } from '../../state/preferences.svelte.ts';
import { Resource } from '../../state/resource.svelte.ts';
import { session, stillHealthy } from '../../state/session.svelte.ts';

/** Changes that may change the answer; runs and alerts are in the counts and the incidents, which the stream carries. */
const kinds: ReadonlySet<Hint['kind']> = new Set(['overview', 'incident', 'silence', 'monitor', 'channel', 'health']);

const pauseMs = 60_000;
/** What the stream does not carry, such as tonight, is asked for so often while something changes. */
const wholeEveryMs = 300_000;
/** Incidents of the answer. */
const mostIncidents = 20;

/** What the first page shows, all of it from one answer: what is wrong, what comes next, what was, and how the service is. */
export class DashboardState {
  /** In whose morning, or evening, the answer ends tonight. */
  #zone: string | undefined;
  readonly overview = new Resource<Overview>((signal) => this.#ask(signal), {
    concerns: ({ kind }) => kinds.has(kind),
    merge: (overview, hint) => {
      if (hint.kind === 'overview') return this.#withCounts(overview, hint.data);
      if (hint.kind === 'incident') return withIncident(overview, hint.data);
      const service = stillHealthy(overview.service, hint);
      return service && { ...overview, service };
    },
    carries: 'incidents',
    fleetPauseMs: pauseMs,
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

  /** Counts without incidents say all only while nothing became well or unwell. The rest of the answer grows old all the same. */
  #withCounts(overview: Overview, { stats, headline, incidentTotal }: StreamData['overview']): Overview | undefined {
    const { states, summary } = stats;
    if (now.ms - (this.overview.answeredAt ?? 0) >= wholeEveryMs) return undefined;
    if (headline === undefined || incidentTotal === undefined)
      return hasSameStates(states, overview.states) ? { ...overview, running: summary.running } : undefined;
    const incidents = overview.incidents.slice(0, Math.min(mostIncidents, incidentTotal));
    return { ...overview, states, running: summary.running, headline, incidentTotal, incidents };
  }

  #ask(signal: AbortSignal): ReturnType<typeof getOverview> {
    this.#zone = preferences.timeZone;
    return getOverview({ zone: this.#zone }, signal);
  }
}

/** One that is older than what is shown changes nothing. */
function withIncident(overview: Overview, told: StreamData['incident']): Overview {
  if (Number(told.revision) < Number(overview.revision)) return overview;
  const { namespace, name } = 'removed' in told ? told.removed : told.row.cronjob;
  const others = overview.incidents.filter(({ cronjob }) => cronjob.namespace !== namespace || cronjob.name !== name);
  const incidents = 'removed' in told ? others : others.toSpliced(told.rank, 0, told.row);
  return { ...overview, revision: told.revision, incidents };
}
