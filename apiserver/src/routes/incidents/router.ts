import { alertTypes, IncidentList, maxLimit, Overview, type Stats, type Words } from '@cronjob-monitor/shared/contract';
import { counted } from '@cronjob-monitor/shared/domain';
import { listMonitors } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError } from '../../errors.ts';
import { limit, flag, names, namespaces, oneMonitor, paging, words } from '../../middleware/parameters.ts';
import { pageOf, toPagination } from '../../middleware/pagination.ts';
import type { RouteDeps } from '../deps.ts';
import { gatherHealth, presentHealth } from '../health/router.ts';
import { route } from '../route.ts';
import { readStatsFor } from '../stats/router.ts';
import { readTonightFor } from '../tonight/router.ts';
import { readRevision } from '../verdicts/surroundings.ts';
import { findIncidents, presentIncidents, wrongStates } from './read.ts';

const incidentsQuery = {
  state: words('States of the verdict.', wrongStates),
  namespace: namespaces,
  owner: names('Owners, as the annotation says.'),
  type: words('With an open alert of one of these types.', alertTypes),
  held: flag('True: all its alerts are held back; false: one at least is not, or it has none.'),
  monitor: oneMonitor,
  limit: limit(maxLimit),
  offset: paging.offset,
};

const defaultLimit = 50;

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
    async ({ deps, query: { limit: most, offset, ...about } }): Promise<IncidentList> => {
      const page = pageOf({ limit: most, offset }, defaultLimit);
      return deps.answers.read(['incidents', about, page], async () => {
        const found = await findIncidents(deps, about);
        const shown = found.slice(page.offset, page.offset + page.limit);
        return { items: await presentIncidents(deps, shown), pagination: toPagination(page, found.length) };
      });
    },
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
      query: { namespace: namespaces },
      answer: Overview,
    },
    ({ deps, ctx, query }) => readOverview(deps, ctx, query.namespace),
  ),
];

const mostIncidents = 20;
const mostAtRisk = 20;
const mostNames = 2;

/** The first page of the interface, as the caller of a request may know it; `within` are namespaces that it may read, empty for all. */
async function readOverview(deps: RouteDeps, ctx: ApiContext, within: readonly string[]): Promise<Overview> {
  const revision = await readRevision(deps.store);
  const everything = { state: [], owner: [], type: [], held: undefined, monitor: undefined };
  const zone = { until: undefined, zone: undefined, limit: mostAtRisk };
  const [stats, monitors, wrong, tonight, health] = await Promise.all([
    readStatsFor(deps, ctx, within),
    countMonitors(deps, ctx, within),
    deps.answers.read(['overview', within], async () => {
      const found = await findIncidents(deps, { ...everything, namespace: within });
      const missing = found.filter(({ cronJob }) => cronJob === undefined).length;
      return { total: found.length, missing, items: await presentIncidents(deps, found.slice(0, mostIncidents)) };
    }),
    readTonightFor(deps, { ...zone, namespace: within }),
    gatherHealth(deps),
  ]);
  const { states, summary, channels } = stats;
  return {
    revision,
    headline: headlineOf(stats, wrong),
    states,
    running: summary.running,
    channels: { ...channels, words: shareWords(channels.ready, channels.total, 'channel', 'ready') },
    monitors: { ...monitors, words: shareWords(monitors.well, monitors.total, 'monitor', 'well') },
    incidents: wrong.items,
    incidentTotal: wrong.total,
    tonight,
    service: presentHealth(health, deps.settings, deps.process),
  };
}

/** To see CronJobs of a namespace is not to see its monitors. */
async function countMonitors(
  { store, authentication }: RouteDeps,
  { state: { caller } }: ApiContext,
  asked: readonly string[],
): Promise<Pick<Overview['monitors'], 'total' | 'well'>> {
  if (!caller) throw internalError(new Error('the request has no caller'));
  const within = (await authentication.reach(caller, 'readMonitors', asked)).within(asked);
  const monitors = (await listMonitors(store)).filter(
    ({ namespace }) => within.length === 0 || within.includes(namespace),
  );
  const isWell = ({ phase }: (typeof monitors)[number]): boolean => phase !== 'Degraded' && phase !== 'Error';
  return { total: monitors.length, well: monitors.filter(isWell).length };
}

/** The worst state that is not empty with its first names; `2 critical: backup and etl; 1 channel not ready`. */
function headlineOf(
  { totalCronJobs, states, channels }: Stats,
  { items, missing }: { readonly items: Overview['incidents']; readonly missing: number },
): Words {
  const unready = channels.total - channels.ready;
  const tail = [
    missing === 0 ? '' : `; ${missing} missing`,
    unready === 0 ? '' : `; ${counted(unready, 'channel')} not ready`,
  ].join('');
  const worst = wrongStates.find((state) => states[state] > 0);
  if (totalCronJobs === 0) return `Nothing is watched yet${tail}`;
  if (worst === undefined) {
    const unknown = states.unknown === 0 ? '' : `; ${states.unknown} unknown`;
    return `${counted(totalCronJobs, 'CronJob')}, none fails${unknown}${tail}`;
  }
  const names = items.filter(({ verdict }) => verdict.state === worst).map(({ cronjob }) => cronjob.name);
  const more = states[worst] - Math.min(mostNames, names.length);
  const named = names.length === 0 ? '' : `: ${names.slice(0, mostNames).join(', ')}`;
  return `${states[worst]} ${worst}${named}${named !== '' && more > 0 ? ` and ${more} more` : ''}${tail}`;
}

function shareWords(good: number, total: number, what: string, word: string): Words {
  if (total === 0) return `No ${what}`;
  return good === total ? `${counted(total, what)}, all ${word}` : `${good} of ${counted(total, what)} ${word}`;
}
