import {
  type CoverageList,
  IncidentList,
  Overview,
  refText,
  type Stats,
  type Words,
} from '@cronjob-monitor/shared/contract';
import { cellsOf, counted, floorTo, type Instant, instantIn, type WallSpan } from '@cronjob-monitor/shared/domain';
import {
  countLaneRuns,
  countWallSlots,
  type CronJobOutline,
  listActiveJobs,
  listChannels,
  listMonitors,
  listSuspensions,
} from '@cronjob-monitor/shared/store';
import { namespaces } from '../../middleware/parameters.ts';
import { route } from '../route.ts';
import { readTonightFor, tonightZone, zoneIsKnown } from '../tonight/router.ts';
import {
  findIncidentPage,
  type FirstIncidents,
  headlineOf,
  incidentsQuery,
  presentIncidents,
  readFirstIncidents,
} from './read.ts';
import type { ApiContext } from '../../context.ts';
import { cutToMinute } from '../../windows.ts';
import { countAdvice } from '../advice/router.ts';
import type { RouteDeps } from '../deps.ts';
import { findOutlines, sortOutlines } from '../find-outlines.ts';
import { readStatsFor } from '../stats/router.ts';
import { toWireInstant } from '../../wire-values.ts';
import { readLateAfterMs } from '../known-cron-job.ts';
import { toCells } from '../wall/read.ts';
import { readRevision } from '../verdicts/surroundings.ts';
import { callerOf, namespacesOf } from '../../middleware/guard.ts';
import { judgeCoverage } from '../coverage/list.ts';
import { withDefaults } from '../coverage/query.ts';

const overviewQuery = { namespace: namespaces, zone: tonightZone };

/** What is wrong, a row for each CronJob; and the first page of the interface in one answer. */
export const incidentsRoutes = [
  route(
    {
      method: 'GET',
      path: '/incidents',
      tag: 'Overview',
      id: 'listIncidents',
      says: 'CronJobs that are not well, or expected and not there, with their open alerts, worst first',
      ability: 'read',
      expensive: 1,
      query: incidentsQuery,
      answer: IncidentList,
    },
    ({ deps, query }): Promise<IncidentList> =>
      deps.answers.read(['incidents', query], async () => {
        const { found, ...counts } = await findIncidentPage(deps, query);
        return { items: await presentIncidents(deps, found), ...counts };
      }),
  ),
  route(
    {
      method: 'GET',
      path: '/overview',
      tag: 'Overview',
      id: 'getOverview',
      says: 'What is wrong, what comes next and how the service is',
      ability: 'read',
      expensive: 1,
      query: overviewQuery,
      rules: [zoneIsKnown],
      answer: Overview,
    },
    ({ deps, ctx, query }) => readOverview(deps, ctx, query),
  ),
];

const mostAtRisk = 20;
const mostNames = 2;

interface OverviewAsked {
  /** Namespaces that the caller may read; none: all. */
  readonly namespace: readonly string[];
  /** Its morning, or evening, is the end of tonight; undefined: that of the cluster. */
  readonly zone: string | undefined;
}

/** The first page of the interface, as the caller of a request may know it. */
async function readOverview(
  deps: RouteDeps,
  ctx: ApiContext,
  { namespace: within, zone }: OverviewAsked,
): Promise<Overview> {
  // To see CronJobs of a namespace is not to see its monitors.
  const monitored = await namespacesOf(deps.authentication, ctx, 'readMonitors', within);
  const countsChannels = await deps.authentication.may(callerOf(ctx), 'readChannels', {});
  const now = cutToMinute(deps.clock.now());
  const [kept, service] = await Promise.all([
    deps.answers.read(['overview', within, zone, monitored, countsChannels, now], () =>
      readAllButHealth(deps, ctx, { within, zone, monitored, countsChannels, now }),
    ),
    // A lead that is lost, or a database that is away, is no change that the database tells of.
    deps.health(),
  ]);
  const told = JSON.stringify(service);
  const before = lastOf.get(kept);
  if (before?.told === told) return before.answer;
  const { stats, missing, groups, unready, ...rest } = kept;
  const { states, summary, channels } = stats;
  const answer = {
    headline: headlineOf(stats, { items: rest.incidents, missing, groups }, service),
    states,
    running: summary.running,
    channels: { ...channels, words: shareWords(channels, 'channel', 'ready', unready) },
    ...rest,
    service,
  };
  lastOf.set(kept, { told, answer });
  return answer;
}

/** The answer that was last made of a kept one, and its health: the same object is made into text once for all who get it. */
const lastOf = new WeakMap<AllButHealth, { readonly told: string; readonly answer: Overview }>();

type AllButHealth = Omit<Overview, 'headline' | 'states' | 'running' | 'channels' | 'service'> &
  FirstIncidents & {
    readonly stats: Stats;
    /** Channels that are not ready, each with the reason. */
    readonly unready: readonly string[];
  };

async function readAllButHealth(
  deps: RouteDeps,
  ctx: ApiContext,
  { within, zone, monitored, countsChannels, now }: Scope,
): Promise<AllButHealth> {
  const revision = await readRevision(deps.store);
  const mayLag = { mayLag: true };
  const scope = { namespaces: within, monitored };
  const [stats, { unwell, ...monitors }, channels, first, tonight, lanes, coverage, { findings }, suspended] =
    await Promise.all([
      readStatsFor(deps, ctx, within),
      countMonitors(deps, monitored),
      countsChannels ? listChannels(deps.store) : [],
      readFirstIncidents(deps, within),
      readTonightFor(deps, { until: undefined, zone, limit: mostAtRisk, namespace: within }),
      // They read a day of the whole fleet, its routes and its settings: a change of one CronJob is no reason to read all that again.
      deps.answers.read(['lanes', within, now], () => readLanes(deps, { within, now }), mayLag),
      deps.answers.read(['coverage in figures', within], () => countCoverage(deps, within), mayLag),
      deps.answers.read(['findings', scope], async () => ({ findings: await countAdvice(deps, scope) }), mayLag),
      deps.answers.read(['suspended', within], () => readSuspended(deps, within), mayLag),
    ]);
  return {
    revision,
    stats,
    unready: channels
      .filter(({ ready }) => !ready)
      .map(({ name, reason }) => (reason === 'Validated' ? name : `${name} (${reason})`)),
    monitors: { ...monitors, words: shareWords({ ...monitors, ready: monitors.well }, 'monitor', 'well', unwell) },
    ...first,
    tonight,
    ...lanes,
    coverage,
    findings,
    suspended,
  };
}

interface Scope {
  readonly within: readonly string[];
  readonly zone: string | undefined;
  /** Namespaces of which the caller may read monitors; none: all. */
  readonly monitored: readonly string[];
  readonly countsChannels: boolean;
  readonly now: Instant;
}

async function countMonitors(
  { store }: RouteDeps,
  within: readonly string[],
): Promise<Pick<Overview['monitors'], 'total' | 'well'> & { readonly unwell: readonly string[] }> {
  const monitors = (await listMonitors(store)).filter(
    ({ namespace }) => within.length === 0 || within.includes(namespace),
  );
  const isWell = ({ phase }: (typeof monitors)[number]): boolean => phase !== 'Degraded' && phase !== 'Error';
  const unwell = monitors.filter((monitor) => !isWell(monitor)).map(refText);
  return { total: monitors.length, well: monitors.length - unwell.length, unwell };
}

/** `legacy-sync for 41 d by kubectl-edit, 59 runs left out; and 2 more`, the longest first. */
async function readSuspended(deps: RouteDeps, within: readonly string[]): Promise<Overview['suspended']> {
  const outlines = (await findOutlines(deps, { namespaces: within })).filter(({ state }) => state === 'suspended');
  const ids = outlines.map(({ id }) => id);
  const suspensions = await listSuspensions(deps.store, ids);
  const sinceOf = ({ id }: { readonly id: number }): Instant => suspensions.get(id)?.sinceAt ?? Infinity;
  const [longest, ...others] = outlines.toSorted((a, b) => sinceOf(a) - sinceOf(b) || (a.name < b.name ? -1 : 1));
  if (longest === undefined) return { total: 0, words: 'No CronJob' };
  const { sinceAt, by, leftOut = 0 } = suspensions.get(longest.id) ?? {};
  const age = sinceAt === undefined ? '' : ` for ${instantIn('age', sinceAt)}`;
  const who = by === undefined ? '' : ` by ${by}`;
  const lost = leftOut === 0 ? '' : `, ${counted(leftOut, 'run')} left out`;
  const more = others.length === 0 ? '' : `${lost === '' ? '' : ';'} and ${others.length} more`;
  return { total: outlines.length, words: `${longest.name}${age}${who}${lost}${more}` };
}

/** `2 of 3 channels ready, not team-chat (Unauthorized)`; the first names of those that are not. */
function shareWords(
  { ready, total }: { readonly ready: number; readonly total: number },
  what: string,
  word: string,
  others: readonly string[],
): Words {
  if (total === 0) return `No ${what}`;
  if (ready === total) return `${counted(total, what)}, all ${word}`;
  const more = others.length > mostNames ? ` and ${others.length - mostNames} more` : '';
  const named = others.length === 0 ? '' : `, not ${others.slice(0, mostNames).join(', ')}${more}`;
  return `${ready} of ${counted(total, what)} ${word}${named}`;
}

/** Namespaces that have a lane. */
const mostLanes = 6;
const halfHourMs = 30 * 60_000;
const columns = 48;

type Lanes = Pick<Overview, 'lanesFrom' | 'lanes' | 'laneTotal'>;

/** The last 24 h of the namespaces with the worst CronJobs, each as one row of the wall; `within` are namespaces, none for all. */
async function readLanes(
  deps: RouteDeps,
  { within, now }: { readonly within: readonly string[]; readonly now: Instant },
): Promise<Lanes> {
  const { defaultTimeZone } = deps.settings;
  const outlines = await findOutlines(deps, { namespaces: within });
  const worstFirst = sortOutlines(outlines, { key: 'status', descending: false }, { now, defaultTimeZone });
  const byNamespace = [...Map.groupBy(worstFirst, ({ namespace }) => namespace)];
  const until = floorTo(halfHourMs, now) + halfHourMs;
  const span = { from: until - columns * halfHourMs, until, stepMs: halfHourMs };
  const lateAfterMs = await readLateAfterMs(deps.store);
  const lanes: Lanes['lanes'][number][] = [];
  for (const [namespace, members] of byNamespace.slice(0, mostLanes))
    lanes.push({ namespace, cronJobs: members.length, cells: await readCells(deps, members, span, lateAfterMs) });
  return { lanesFrom: toWireInstant(span.from), lanes, laneTotal: byNamespace.length };
}

async function readCells(
  { store }: RouteDeps,
  members: readonly CronJobOutline[],
  span: WallSpan,
  lateAfterMs: number,
): Promise<Lanes['lanes'][number]['cells']> {
  const ids = members.map(({ id }) => id);
  const [runs, slots, active] = await Promise.all([
    countLaneRuns(store, ids, span, lateAfterMs),
    countWallSlots(store, ids, span),
    listActiveJobs(store, ids),
  ]);
  const { slots: expected, running } = toCells(active, [...slots.values()].flat());
  const unnamed = running.map(({ at }) => ({ at, jobName: undefined }));
  return cellsOf(span, { runs, slots: expected, running: unnamed, due: [], risk: undefined });
}

/** Of the types without which a run can fail in silence. */
async function countCoverage(deps: RouteDeps, namespace: readonly string[]): Promise<CoverageList['summary']> {
  const sort = { key: 'state', descending: false } as const;
  const others = {
    search: undefined,
    monitor: undefined,
    days: undefined,
    proved: undefined,
    limit: undefined,
    offset: undefined,
    format: undefined,
  };
  const { summary } = await judgeCoverage(deps, withDefaults({ ...others, namespace, types: [], state: [], sort }));
  return summary;
}
