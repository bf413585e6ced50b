import { alertTypes, IncidentList, maxLimit, Overview } from '@cronjob-monitor/shared/contract';
import { limit, flag, names, namespaces, oneMonitor, paging, words } from '../../middleware/parameters.ts';
import { pageOf, toPagination } from '../../middleware/pagination.ts';
import { route } from '../route.ts';
import { tonightZone, zoneIsKnown } from '../tonight/router.ts';
import { readOverview } from './overview.ts';
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
const overviewQuery = { namespace: namespaces, zone: tonightZone };

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
      query: overviewQuery,
      rules: [zoneIsKnown],
      answer: Overview,
    },
    ({ deps, ctx, query }) => readOverview(deps, ctx, query),
  ),
];
