import { AdviceList, adviceLevels, type AdviceKind, type Ref } from '@cronjob-monitor/shared/contract';
import { internalError } from '../../errors.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { flag, names, paging, ref, search, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { findAdvice, type AdviceScope, type AllFound, type Found } from './find.ts';
import { kindWords, levelOf, rankOf } from './kinds.ts';
import { presentAdvice } from './present.ts';

const adviceQuery = {
  namespace: names('Names of namespaces.'),
  monitor: ref('A CronJobMonitor, as namespace/name.'),
  cronjob: ref('A CronJob, as namespace/name.'),
  search: search(),
  level: words('Levels.', adviceLevels),
  code: names('Kinds of findings.'),
  ignored: flag('Those that their owners want left, in place of all others.'),
  ...paging,
};
type AdviceQuery = Values<typeof adviceQuery>;

/** What to change so that rules and CronJobs do what was meant. */
export const adviceRoutes = [
  route(
    {
      method: 'GET',
      path: '/advice',
      tag: 'Coverage',
      id: 'listAdvice',
      says: 'Settings that cannot work, or hardly as they were meant, with what mends them',
      ability: 'read',
      query: adviceQuery,
      rules: [offsetNeedsLimit],
      answer: AdviceList,
    },
    async ({ deps, ctx, query }) => {
      const { caller } = ctx.state;
      if (!caller) throw internalError(new Error('the request has no caller'));
      // To see CronJobs of a namespace is not to see its monitors.
      const reach = await deps.authentication.reach(caller, 'readMonitors', query.namespace);
      const monitored = reach.within(query.namespace);
      return readAdvice(deps, query, { namespaces: query.namespace, monitored });
    },
  ),
];

async function readAdvice(deps: RouteDeps, query: AdviceQuery, scope: AdviceScope): Promise<AdviceList> {
  // It is the same for all pages and filters, and asks for the whole fleet.
  const all: AllFound = await deps.answers.read(['advice', scope], () => findAdvice(deps, scope));
  const asked = all.found.filter((found) => isAskedFor(found, query));
  const isLeft = query.ignored ?? false;
  const open = asked.filter((found) => !found.isLeft);
  const ofWish = asked
    .filter((found) => found.isLeft === isLeft)
    .filter(({ code }) => query.level.length === 0 || query.level.includes(levelOf(code)))
    .filter(({ code }) => query.code.length === 0 || query.code.includes(code));
  const page = pageOnWish(query);
  const shown = page ? ofWish.slice(page.offset, page.offset + page.limit) : ofWish;
  return {
    items: await presentAdvice(deps.store, shown, all.found),
    counts: {
      findings: open.filter(isFinding).length,
      ignored: asked.length - open.length,
      omitted: all.omitted,
      kinds: kindsOf(isLeft ? asked.filter((found) => found.isLeft) : open),
    },
    ...(page ? { pagination: toPagination(page, ofWish.length) } : {}),
  };
}

/** How many there are to mend. */
export async function countAdvice(deps: RouteDeps, scope: AdviceScope): Promise<number> {
  const { found } = await findAdvice(deps, scope);
  return found.filter((one) => !one.isLeft && isFinding(one)).length;
}

function isFinding({ code }: Found): boolean {
  return levelOf(code) !== 'note';
}

function isAskedFor({ cronJob, monitor }: Found, query: AdviceQuery): boolean {
  const part = query.search?.toLowerCase() ?? ''; // names of Kubernetes are lower case
  return (
    isSame(query.cronjob, cronJob) &&
    isSame(query.monitor, monitor) &&
    (cronJob ?? monitor)?.name.includes(part) === true
  );
}

function isSame(wanted: Ref | undefined, is: Ref | undefined): boolean {
  return wanted === undefined || (wanted.namespace === is?.namespace && wanted.name === is.name);
}

function kindsOf(found: readonly Found[]): AdviceKind[] {
  return [...Map.groupBy(found, ({ code }) => code)]
    .sort(([a], [b]) => adviceLevels.indexOf(levelOf(a)) - adviceLevels.indexOf(levelOf(b)) || rankOf(a) - rankOf(b))
    .map(([code, ofCode]) => ({ code, level: levelOf(code), words: kindWords(code), findings: ofCode.length }));
}
