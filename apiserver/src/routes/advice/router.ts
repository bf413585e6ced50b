import {
  type Advice,
  type AdviceKind,
  adviceLevels,
  AdviceList,
  refText,
  type Severity,
} from '@cronjob-monitor/shared/contract';
import { isSameRef } from '../../object-name.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { flag, names, paging, ref, search, words } from '../../middleware/parameters.ts';
import type { Values } from '../../middleware/validate.ts';
import type { ApiContext } from '../../context.ts';
import type { RouteDeps } from '../deps.ts';
import type { KnownCronJob } from '../known-cron-job.ts';
import { route } from '../route.ts';
import { findAdvice, type AdviceScope, type AllFound, type Found } from './find.ts';
import { kindWords, levelOf, rankOf } from './kinds.ts';
import {
  counted,
  dayMs,
  ownName,
  parseResourceDuration,
  patchCommand,
  readAdviceIgnore,
} from '@cronjob-monitor/shared/domain';
import {
  countTargets,
  listAlertStarts,
  listCronJobsById,
  type AlertStart,
  type Store,
} from '@cronjob-monitor/shared/store';
import { orNull } from '../../wire-values.ts';
import { explains, isRule, ruleFromSchedule } from '../verdicts/findings.ts';
import { namespacesOf } from '../../middleware/guard.ts';

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
    ({ deps, ctx, query }) => readAdviceFor(deps, ctx, query),
  ),
];

const mostIncluded = 2;

/** What is found about one CronJob, as its own answer includes it. Throws REVIEW_UNAVAILABLE. */
export function readIncludedAdvice(deps: RouteDeps, ctx: ApiContext, { cronJob }: KnownCronJob): Promise<AdviceList> {
  const { namespace, name } = cronJob;
  return readAdviceFor(deps, ctx, {
    namespace: [namespace],
    cronjob: { namespace, name },
    monitor: undefined,
    search: undefined,
    level: [],
    code: [],
    ignored: undefined,
    limit: mostIncluded,
    offset: undefined,
  });
}

async function readAdviceFor(deps: RouteDeps, ctx: ApiContext, query: AdviceQuery): Promise<AdviceList> {
  // To see CronJobs of a namespace is not to see its monitors.
  const monitored = await namespacesOf(deps.authentication, ctx, 'readMonitors', query.namespace);
  return readAdvice(deps, query, { namespaces: query.namespace, monitored, cronJob: query.cronjob });
}

async function readAdvice(deps: RouteDeps, query: AdviceQuery, scope: AdviceScope): Promise<AdviceList> {
  // It is the same for all pages and other filters; without a CronJob it asks for the whole fleet.
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
    (query.cronjob === undefined || isSameRef(query.cronjob, cronJob)) &&
    (query.monitor === undefined || isSameRef(query.monitor, monitor)) &&
    (cronJob ?? monitor)?.name.includes(part) === true
  );
}

function kindsOf(found: readonly Found[]): AdviceKind[] {
  return [...Map.groupBy(found, ({ code }) => code)]
    .sort(([a], [b]) => adviceLevels.indexOf(levelOf(a)) - adviceLevels.indexOf(levelOf(b)) || rankOf(a) - rankOf(b))
    .map(([code, ofCode]) => ({ code, level: levelOf(code), words: kindWords(code), findings: ofCode.length }));
}

const days = 30;

/** These findings with what came of each, and what mends it. `all`: those that a patch of the same rule has to suit as well. */
async function presentAdvice(store: Store, shown: readonly Found[], all: readonly Found[]): Promise<Advice[]> {
  const ids = [...new Set(shown.flatMap(({ cronJobId }) => cronJobId ?? []))];
  const [alerts, cronJobs, targets] = await Promise.all([
    listAlertStarts(store, ids, store.now() - days * dayMs),
    listCronJobsById(store, ids),
    countTargets(store),
  ]);
  const alertsOf = Map.groupBy(alerts, ({ cronJobId }) => cronJobId);
  const byId = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  return shown.map((found): Advice => {
    const { code, words, cronJob, cronJobId, monitor, path, isLeft } = found;
    const row = cronJobId === undefined ? undefined : byId.get(cronJobId);
    const ofRule = (cronJobId === undefined ? [] : (alertsOf.get(cronJobId) ?? [])).filter(
      (alert) => alert.monitorId === monitor?.id && explains(code, alert),
    );
    const isOfMonitor = cronJob === undefined || isRule(path);
    return {
      code,
      level: levelOf(code),
      words,
      impact: impactOf(ofRule, row?.timeZone ?? 'UTC'),
      cronjob: cronJob ?? null,
      monitor: monitor ? { namespace: monitor.namespace, name: monitor.name } : null,
      path: orNull(path),
      href: hrefOf(found, isOfMonitor),
      alerts30d: ofRule.length,
      patch: monitor && isLimitOfMany(found, targets) ? ruleFromSchedule(monitor) : patchOf(found, all),
      leave: leaveOf(found, row?.notes.adviceIgnore),
      ignored: isLeft,
    };
  });
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** Fewer fall on one weekday by chance. */
const fewestWeekly = 3;
const worstFirst: readonly Severity[] = ['critical', 'warning'];

/** `critical each Monday; 4 alerts in 30 days` */
function impactOf(alerts: readonly AlertStart[], zone: string): string | null {
  const severity = worstFirst.find((one) => alerts.some((alert) => alert.severity === one));
  if (severity === undefined) return null;
  const dayIn = new Intl.DateTimeFormat('en-US', { timeZone: zone, weekday: 'long' });
  const on = new Set(alerts.map(({ sinceAt }) => dayIn.format(sinceAt)));
  const [weekday = ''] = on;
  const when = on.size === 1 && alerts.length >= fewestWeekly && weekdays.includes(weekday) ? ` each ${weekday}` : '';
  return `${severity}${when}; ${counted(alerts.length, 'alert')} in ${days} days`;
}

function hrefOf({ code, cronJob, monitor, path }: Found, isOfMonitor: boolean): string | null {
  if (isOfMonitor && monitor) return `/monitors/${refText(monitor)}?part=rules#${path ?? ''}`;
  if (!cronJob) return null;
  if (code === 'NotHeard') return `/coverage?ns=${cronJob.namespace}&q=${cronJob.name}`;
  return `/cronjobs/${refText(cronJob)}${path === undefined ? '' : '?part=rules'}`;
}

/** One time without success cannot suit several CronJobs: what lets the slowest be would not notice that the others have stopped. */
function isLimitOfMany({ code, monitor }: Found, targets: Awaited<ReturnType<typeof countTargets>>): boolean {
  return code === 'DeadManShorterThanPeriod' && monitor !== undefined && (targets.get(monitor.id)?.cronJobs ?? 0) > 1;
}

/** A rule is one for all CronJobs of its monitor: the longest of the limits that each of them wants suits all. */
function patchOf(found: Found, all: readonly Found[]): string | null {
  const { code, cronJob, monitor, path, mend, command } = found;
  if (command !== undefined) return command;
  if (mend === undefined || path === undefined) return null;
  if (cronJob && !isRule(path)) return patchCommand({ kind: 'cronjob', ...cronJob }, path, mend);
  if (!monitor) return null;
  const wanted = all.flatMap((other) =>
    other.code === code && other.monitor?.id === monitor.id && other.path === path ? (other.mend ?? []) : [],
  );
  const value = wanted.reduce((most, one) => (sizeOf(one) > sizeOf(most) ? one : most), mend ?? '');
  return patchCommand({ kind: 'cronjobmonitor', ...monitor }, path, value);
}

function sizeOf(value: string | number): number {
  return typeof value === 'number' ? value : (parseResourceDuration(value) ?? 0);
}

/** The annotation stands on what the finding is about, with the codes that it has already. */
function leaveOf({ code, cronJob, cronJobId, monitor }: Found, already: string | undefined): string | null {
  if (cronJob && cronJobId === undefined) return null;
  const { namespace, name } = cronJob ?? monitor ?? {};
  if (namespace === undefined || name === undefined) return null;
  const codes = [...new Set([...readAdviceIgnore(already), code])].join(',');
  const kind = cronJob ? 'cronjob' : 'cronjobmonitor';
  return `kubectl -n ${namespace} annotate ${kind} ${name} --overwrite ${ownName('advice-ignore')}=${codes}`;
}
