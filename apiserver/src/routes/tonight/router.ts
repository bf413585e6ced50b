import { usualPageSize } from '../../middleware/pagination.ts';
import {
  maxLimit,
  Tonight,
  type Problem,
  type Ref,
  type TonightItem,
  type TonightSpan,
} from '@cronjob-monitor/shared/contract';
import {
  columnsOf,
  countStarts,
  dailyInstants,
  floorTo,
  heardWords,
  isTexture,
  planRuns,
  type Heard,
  type Instant,
  type PlannedRuns,
  hourMs,
} from '@cronjob-monitor/shared/domain';
import { isZoneName } from '@cronjob-monitor/shared/domain/schedule';
import { invalidRequest } from '../../errors.ts';
import { instant, limit, name, namespaces } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import { nextRunOf } from '../../next-run.ts';
import { isSameRef } from '../../object-name.ts';
import { cutToMinute } from '../../windows.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { scoreForecasts, type CronJobOutline, type EndedRuns, type Foreseen } from '@cronjob-monitor/shared/store';
import { toSecondsOrNull, toWireInstant } from '../../wire-values.ts';
import { findOutlines } from '../find-outlines.ts';
import { judgeRuns } from './judge.ts';

/** In whose morning, or evening, tonight ends. */
export const tonightZone = name('A time zone by its IANA name; without it that of the cluster.');

const tonightQuery = {
  until: instant('In the next 48 hours; without it 06:00 of the zone, between 06:00 and 18:00 its 22:00.'),
  zone: tonightZone,
  namespace: namespaces,
  limit: limit(maxLimit),
};
type TonightQuery = Values<typeof tonightQuery>;

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
  const asked = { from, until, span, namespaces: query.namespace, limit: query.limit ?? usualPageSize };
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
  query: Pick<TonightQuery, 'until'>,
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

interface TonightAsked {
  readonly from: Instant;
  readonly until: Instant;
  readonly span: TonightSpan;
  readonly namespaces: readonly string[];
  readonly limit: number;
}

const mostInstants = 100;
/** Nights of so many days are scored. */
const scoredMs = 30 * 86_400_000;

/** The item of one CronJob, as its own answer includes it: of tonight, and of its next run if that comes later. Null: nothing is at risk. */
export async function readTonightOf(
  deps: RouteDeps,
  cronJob: Ref,
  zone: string | undefined,
): Promise<TonightItem | null> {
  const { clock, settings } = deps;
  const from = cutToMinute(clock.now());
  const { until: morning } = endOf({ until: undefined }, zone ?? settings.defaultTimeZone, from);
  const outlines = await findOutlines(deps, { namespaces: [cronJob.namespace] });
  const own = outlines.filter((outline) => isSameRef(outline, cronJob));
  const until = Math.max(morning, ...own.map((one) => (nextRunOf(one, from, settings.defaultTimeZone) ?? 0) + 60_000));
  const plan = planRuns(own, { from, until }, settings.defaultTimeZone);
  const [item = null] = await present(deps.ended, await judgeRuns(deps, plan, from));
  return item;
}

/** The risks of the runs of the fleet until an instant. */
async function readTonight(deps: RouteDeps, asked: TonightAsked): Promise<Tonight> {
  const { settings, store } = deps;
  const outlines = await findOutlines(deps, { namespaces: asked.namespaces });
  const plan = planRuns(outlines, asked, settings.defaultTimeZone);
  const judged = await judgeRuns(deps, plan, asked.from);
  const items = await present(deps.ended, judged.toSorted(byUrgency).slice(0, asked.limit));
  const running = plan.filter(({ slots, cronJob }) => slots.length > 0 && !cronJob.suspended);
  const atRisk = new Set(judged.map(({ planned }) => planned));
  return {
    from: toWireInstant(asked.from),
    until: toWireInstant(asked.until),
    span: asked.span,
    cronjobs: running.length,
    runs: running.reduce((sum, { slots }) => sum + slots.length, 0),
    atRisk: judged.length,
    starts: starts(running, asked),
    items,
    calm: running.filter((planned) => !atRisk.has(planned)).length,
    score: await scoreForecasts(store, asked.from - scoredMs, asked.namespaces),
  };
}

function byUrgency(a: Foreseen, b: Foreseen): number {
  const rank = ({ risks }: Foreseen): number => (risks[0]?.level === 'likely' ? 0 : 1);
  const firstAt = ({ planned }: Foreseen): Instant => planned.slots[0] ?? Number.MAX_SAFE_INTEGER;
  return rank(a) - rank(b) || firstAt(a) - firstAt(b); // else by namespace and name, as outlines come
}

async function present(ended: EndedRuns, judged: readonly Foreseen[]): Promise<TonightItem[]> {
  const durations = await ended.durations(judged.map(({ planned }) => planned.cronJob.id));
  return judged.map(({ planned: { cronJob, slots }, facts, risks }) => ({
    cronjob: { namespace: cronJob.namespace, name: cronJob.name },
    at: slots.slice(0, mostInstants).map(toWireInstant),
    runs: slots.length,
    expectedSeconds: toSecondsOrNull(durations.get(cronJob.id)?.p50Ms),
    p95Seconds: toSecondsOrNull(durations.get(cronJob.id)?.p95Ms),
    risks,
    told: presentHeard(facts.heard),
  }));
}

function presentHeard(heard: Heard): TonightItem['told'] {
  return { state: heard.state, channels: heard.channels, words: heardWords(heard) };
}

const quarterMs = 15 * 60_000;

/** Starts in each quarter of an hour; what comes more often than that would hide them. */
function starts(running: readonly PlannedRuns<CronJobOutline>[], { from, until }: TonightAsked): Tonight['starts'] {
  const span = { from: floorTo(quarterMs, from), until, stepMs: quarterMs };
  const counts = countStarts(
    span,
    running.flatMap(({ slots, shortestGapMs }) => (isTexture(shortestGapMs, quarterMs) ? [] : [slots])),
  );
  return columnsOf(span).map((at, column) => ({ at: toWireInstant(at), runs: counts[column] ?? 0 }));
}
