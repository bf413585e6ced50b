import { maxLimit, type Problem, type TonightSpan, Tonight } from '@cronjob-monitor/shared/contract';
import { dailyInstants, type Instant } from '@cronjob-monitor/shared/domain';
import { isZoneName } from '@cronjob-monitor/shared/domain/schedule';
import { invalidRequest } from '../../errors.ts';
import { instant, limit, name, namespaces } from '../../middleware/parameters.ts';
import { type Values } from '../../middleware/validate.ts';
import { cutToMinute } from '../../windows.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { readTonight } from './forecast.ts';

/** In whose morning, or evening, tonight ends. */
export const tonightZone = name('A time zone by its IANA name; without it that of the cluster.');

const tonightQuery = {
  until: instant('In the next 48 hours; without it 06:00 of the zone, between 06:00 and 18:00 its 22:00.'),
  zone: tonightZone,
  namespace: namespaces,
  limit: limit(maxLimit),
};
type TonightQuery = Values<typeof tonightQuery>;

const defaultLimit = 50;
const hourMs = 3_600_000;
const mostHours = 48;

/** GET /tonight: the risks of the runs to come. */
export const tonightRoutes = [
  route(
    {
      method: 'GET',
      path: '/tonight',
      tag: 'Time',
      id: 'getTonight',
      says: 'Which runs to come may end badly, and why',
      ability: 'read',
      expensive: 1,
      query: tonightQuery,
      rules: [zoneIsKnown],
      answer: Tonight,
    },
    ({ deps, query }) => readTonightFor(deps, query),
  ),
];

/** Of one request. Throws INVALID_REQUEST for an end that lies elsewhere than in the next 48 hours. */
export async function readTonightFor(deps: RouteDeps, query: TonightQuery): Promise<Tonight> {
  const { clock, settings, answers } = deps;
  const from = cutToMinute(clock.now());
  const { until, span } = endOf(query, query.zone ?? settings.defaultTimeZone, from);
  if (until <= from || until > from + mostHours * hourMs)
    throw invalidRequest([
      { in: 'query', field: 'until', message: `must lie in the next ${mostHours} hours`, allowed: null },
    ]);
  const asked = { from, until, span, namespaces: query.namespace, limit: query.limit ?? defaultLimit };
  return answers.read(['tonight', asked], () => readTonight(deps, asked));
}

/** Rule of a query with `tonightZone`. */
export function zoneIsKnown({ zone }: Pick<TonightQuery, 'zone'>): Problem[] {
  return zone === undefined || isZoneName(zone)
    ? []
    : [{ in: 'query', field: 'zone', message: 'is no time zone', allowed: 'a name of IANA such as Europe/Berlin' }];
}

/** In the night the morning is what counts, and by day the evening; the night is what a person leaves alone, from 18:00 to 06:00. */
function endOf(
  query: TonightQuery,
  zone: string,
  now: Instant,
): { readonly until: Instant; readonly span: TonightSpan } {
  if (query.until !== undefined) return { until: query.until, span: 'asked' };
  const morning = dailyInstants('06:00', zone, now);
  const isDay = morning.lastAt > dailyInstants('18:00', zone, now).lastAt;
  return isDay
    ? { until: dailyInstants('22:00', zone, now).nextAt, span: 'day' }
    : { until: morning.nextAt, span: 'night' };
}
