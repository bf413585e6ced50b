import {
  healthStates,
  wallGroups,
  wallOutcomes,
  wallSortKeys,
  wallSteps,
  type WallStep,
  Wall,
} from '@cronjob-monitor/shared/contract';
import { floorTo, type Instant, type WallSpan, minuteMs, hourMs } from '@cronjob-monitor/shared/domain';
import { invalidRequest } from '../../errors.ts';
import { pageOf } from '../../middleware/pagination.ts';
import {
  instant,
  limit,
  namespaces,
  oneMonitor,
  paging,
  search,
  sort,
  word,
  words,
} from '../../middleware/parameters.ts';
import { type Values } from '../../middleware/validate.ts';
import { cutToMinute } from '../../windows.ts';
import { route } from '../route.ts';
import { readWall } from './read.ts';
import { toWireInstant } from '../../wire-values.ts';

const wallQuery = {
  from: instant(
    'Inclusive, moved back to a full column; at most 31 days before until. Without it as many columns back as the step stands for.',
  ),
  until: instant(
    'Exclusive, moved on to a full column; at most 48 hours ahead. Without it as many columns ahead as the step stands for.',
  ),
  step: word(
    'Width of a column, 30m without it: 24 h back and 12 h ahead. 3h: 7 d and 2 d. 2m: 1 h and 1 h. At most 200 columns.',
    wallSteps,
  ),
  group: word('What rows stand together by, namespace without it.', wallGroups),
  namespace: namespaces,
  monitor: oneMonitor,
  search: search(),
  state: words('States of the verdict.', healthStates),
  outcome: words('What a row has to have a cell of; one of several is enough.', wallOutcomes),
  sort: sort(wallSortKeys, { key: 'status', descending: false }),
  limit: limit(100),
  offset: paging.offset,
};

const defaultLimit = 100;
const mostColumns = 200;
const mostDays = 31;
const mostHoursAhead = 48;

const stepMs: Readonly<Record<WallStep, number>> = {
  '2m': 2 * minuteMs,
  '5m': 5 * minuteMs,
  '10m': 10 * minuteMs,
  '15m': 15 * minuteMs,
  '30m': 30 * minuteMs,
  '1h': hourMs,
  '3h': 3 * hourMs,
  '6h': 6 * hourMs,
  '12h': 12 * hourMs,
  '24h': 24 * hourMs,
};

/** Columns back, the present one among them, and ahead: a day and a half of half hours, an hour and an hour, seven days and two. */
function standardOf(step: WallStep): { readonly back: number; readonly ahead: number } {
  if (step === '2m') return { back: 30, ahead: 30 };
  const back = stepMs[step] === stepMs['3h'] ? 56 : 48;
  const most = Math.floor((mostDays * 24 * hourMs) / stepMs[step]);
  const ahead = Math.min(24, Math.floor((mostHoursAhead * hourMs) / stepMs[step]));
  return { back: Math.min(back, most - ahead), ahead };
}

/** GET /wall: the fleet in columns of time. */
export const wallRoutes = [
  route(
    {
      method: 'GET',
      path: '/wall',
      tag: 'Time',
      id: 'getWall',
      says: 'Runs that were and runs to come, in columns, a row for each CronJob',
      ability: 'read',
      expensive: 1,
      query: wallQuery,
      answer: Wall,
    },
    async ({ deps, query }) => {
      const { clock, answers } = deps;
      const now = cutToMinute(clock.now());
      const asked = {
        span: spanOf(query, now),
        now,
        group: query.group ?? 'namespace',
        filter: { namespaces: query.namespace, monitor: query.monitor, search: query.search },
        states: query.state,
        outcomes: query.outcome,
        sort: query.sort,
        page: pageOf(query, defaultLimit),
      } as const;
      return answers.read(['wall', asked], () => readWall(deps, asked));
    },
  ),
];

/** Both ends move outwards to full columns. */
export function spanOf(
  { from, until, step = '30m' }: Partial<Pick<Values<typeof wallQuery>, 'from' | 'until' | 'step'>>,
  now: Instant,
): WallSpan {
  const width = stepMs[step];
  const { back, ahead } = standardOf(step);
  const present = floorTo(width, now);
  const begin = from === undefined ? present - (back - 1) * width : floorTo(width, from);
  const end = until === undefined ? present + (ahead + 1) * width : floorTo(width, until + width - 1);
  const aheadAllowed = { field: 'until', message: `must lie at most ${mostHoursAhead} hours ahead` };
  if ((until ?? now) > now + mostHoursAhead * hourMs)
    throw refused(aheadAllowed, `up to ${toWireInstant(now + mostHoursAhead * hourMs)}`);
  if (begin >= end) throw refused({ field: 'from', message: 'must be before until' }, `before ${toWireInstant(end)}`);
  if (end - begin > mostDays * 24 * hourMs)
    throw refused(
      { field: 'from', message: `must lie at most ${mostDays} days before until` },
      `from ${toWireInstant(end - mostDays * 24 * hourMs)} on`,
    );
  const columns = (end - begin) / width;
  if (columns > mostColumns) {
    const fitting = wallSteps.filter((wider) => (end - begin) / stepMs[wider] <= mostColumns - 1);
    throw refused(
      { field: 'step', message: `makes ${columns} columns of this range, at most ${mostColumns} are possible` },
      fitting.join(', '),
    );
  }
  return { from: begin, until: end, stepMs: width };
}

function refused(problem: { readonly field: string; readonly message: string }, allowed: string): Error {
  return invalidRequest([{ in: 'query', ...problem, allowed }]);
}
