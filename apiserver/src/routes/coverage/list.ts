import {
  type CoverageList,
  type CoverageSortKey,
  coverageStates,
  type CronJobCoverage,
  type Ref,
  refText,
} from '@cronjob-monitor/shared/contract';
import { type Coverage, CoverageJudge, dayMs, type Instant } from '@cronjob-monitor/shared/domain';
import {
  findUnwatched,
  listChannelHolds,
  listCronJobsById,
  listMonitorsOf,
  type Store,
  type UnwatchedCronJobs,
} from '@cronjob-monitor/shared/store';
import { pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { isSameRef } from '../../object-name.ts';
import { orNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines } from '../find-outlines.ts';
import { orderBy } from '../../middleware/parameters.ts';
import { inBatches } from '../export/answer.ts';
import type { CoverageQuery } from './query.ts';

/** Since when a channel has to have accepted something to count as proved. */
export function acceptedSince(now: Instant, days: number): Instant {
  return now - days * dayMs;
}

/** A CronJob that is judged and whose notes are not read yet. */
interface Judged {
  /** Undefined: no monitor selects it, and nothing of it is kept. */
  readonly id: number | undefined;
  readonly namespace: string;
  readonly name: string;
  readonly coverage: Coverage;
}

interface Found {
  readonly kept: readonly Judged[];
  readonly summary: CoverageList['summary'];
}

/** The list: judged whole, filtered and cut; only what the page shows is read in full. */
export async function readCoverageList(deps: RouteDeps, query: CoverageQuery): Promise<CoverageList> {
  const { kept, summary } = await judgeCoverage(deps, query);
  const page = pageOnWish(query);
  const shown = page ? kept.slice(page.offset, page.offset + page.limit) : kept;
  return {
    items: await present(deps.store, shown),
    summary,
    ...(page ? { pagination: toPagination(page, kept.length) } : {}),
  };
}

/** All of the list, presented in parts: its items, or the lines of a table. */
export async function* readCoverageInBatches(
  deps: RouteDeps,
  query: CoverageQuery,
): AsyncGenerator<readonly (CronJobCoverage | CoverageRow)[], void, undefined> {
  const { kept } = await judgeCoverage(deps, query);
  for await (const batch of inBatches(kept)) {
    const items = await present(deps.store, batch);
    yield query.format === 'csv' ? items.flatMap(toRows) : items;
  }
}

/** One line of a table for each type of a CronJob. */
interface CoverageRow extends Pick<CronJobCoverage, 'namespace' | 'name' | 'owner' | 'state'> {
  readonly of: CronJobCoverage['types'][number] | null;
}

function toRows({ namespace, name, owner, state, types }: CronJobCoverage): CoverageRow[] {
  const cronJob = { namespace, name, owner, state };
  return types.length === 0 ? [{ ...cronJob, of: null }] : types.map((of) => ({ ...cronJob, of }));
}

/** Every CronJob that a filter lets through, worst first unless it says otherwise; `only`: this one alone of those that a monitor selects. */
export async function judgeCoverage(deps: RouteDeps, query: CoverageQuery, only?: Ref): Promise<Found> {
  const { store, clock, actions } = deps;
  const { namespace: namespaces, search, monitor, types, days, state: states } = query;
  const found = await findOutlines(deps, { namespaces, search, monitor });
  const outlines = only === undefined ? found : found.filter((one) => isSameRef(one, only));
  const ids = only && outlines.map(({ id }) => id);
  const [monitors, rulesOf, channels, unwatched] = await Promise.all([
    listMonitorsOf(store, ids),
    actions.readRouteRules(ids),
    listChannelHolds(store),
    findUnwatched(store),
  ]);
  const judge = new CoverageJudge(types, {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: acceptedSince(clock.now(), days),
    byDrills: query.proved,
  });
  const selecting = Map.groupBy(monitors, ({ cronJobId }) => cronJobId);
  const watched = outlines.map(({ id, namespace, name }): Judged => {
    const ofCronJob = (selecting.get(id) ?? []).flatMap(({ monitorId }) => rulesOf(monitorId, id) ?? []);
    return { id, namespace, name, coverage: judge.judge(ofCronJob) };
  });
  // A monitor is asked for by those that it selects.
  const others = monitor ? nothing : unwatchedOf(unwatched, { namespaces, search }, watched);
  const judged = [...watched, ...others.named];
  const kept = judged.filter(({ coverage }) => states.length === 0 || states.includes(coverage.state));
  return {
    kept: kept.toSorted(orderBy(keys, query.sort, ({ namespace, name }) => [namespace, name])),
    summary: summarise(judged, others),
  };
}

interface Unwatched {
  readonly named: readonly Judged[];
  readonly unnamed: number;
  readonly ignored: number;
}
const nothing: Unwatched = { named: [], unnamed: 0, ignored: 0 };

/** Those that a monitor has come to select since they were written down are told as watched. */
function unwatchedOf(
  { names, byNamespace, ignored = {} }: UnwatchedCronJobs,
  { namespaces, search = '' }: { readonly namespaces: readonly string[]; readonly search: string | undefined },
  watched: readonly Judged[],
): Unwatched {
  const isAsked = (namespace: string): boolean => namespaces.length === 0 || namespaces.includes(namespace);
  const known = new Set(watched.map(refText));
  const asked = names.map(toRef).filter(({ namespace }) => isAsked(namespace));
  const countOf = (counts: Readonly<Record<string, number>>): number =>
    Object.entries(counts).reduce((sum, [namespace, count]) => sum + (isAsked(namespace) ? count : 0), 0);
  return {
    named: asked
      .filter((ref) => !known.has(refText(ref)) && ref.name.includes(search.toLowerCase()))
      .map((ref) => ({ ...ref, id: undefined, coverage: { state: 'unwatched', types: [] } })),
    // What has no name here may or may not be what is searched for.
    unnamed: search === '' ? countOf(byNamespace) - asked.length : 0,
    ignored: countOf(ignored),
  };
}

function toRef(path: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = ''] = path.split('/');
  return { namespace, name };
}

function summarise(
  judged: readonly Judged[],
  { unnamed, ignored }: Pick<Unwatched, 'unnamed' | 'ignored'>,
): CoverageList['summary'] {
  const count = (state: Coverage['state']): number => judged.filter(({ coverage }) => coverage.state === state).length;
  const byState = Object.fromEntries(
    coverageStates.map((state) => [state, count(state) + (state === 'unwatched' ? unnamed : 0)]),
  ) as CoverageList['summary']['byState']; // one entry for each state
  const cronJobs = judged.length + unnamed;
  const covered = byState.reached;
  return { cronJobs, covered, percent: percentCut(covered, cronJobs), byState, unnamed, ignored };
}

/** 41 of 42 are 97.61: what is not covered is never rounded away. */
function percentCut(part: number, whole: number): number | null {
  return whole === 0 ? null : Math.floor((part * 10_000) / whole) / 100;
}

const keys: Readonly<Record<CoverageSortKey, (one: Judged) => string | number>> = {
  state: ({ coverage }) => coverageStates.indexOf(coverage.state),
  name: ({ name }) => name,
  namespace: ({ namespace }) => namespace,
};

async function present(store: Store, judged: readonly Judged[]): Promise<CronJobCoverage[]> {
  const ids = judged.flatMap(({ id }) => id ?? []);
  const owners = new Map((await listCronJobsById(store, ids)).map(({ id, notes }) => [id, notes.owner]));
  return judged.map(({ id, namespace, name, coverage: { state, types } }) => ({
    namespace,
    name,
    owner: orNull(id === undefined ? undefined : owners.get(id)),
    state,
    types: types.map(({ reason, ...type }) => ({ ...type, reason: orNull(reason) })),
  }));
}
