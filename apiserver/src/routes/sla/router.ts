import {
  type Ref,
  refText,
  slaGroups,
  SlaList,
  SlaReport,
  type SlaSortKey,
  slaSortKeys,
  slaSubjects,
  SlaTarget,
  type SlaTargetVerdict,
  slaTargetVerdicts,
} from '@cronjob-monitor/shared/contract';
import { dayOf, type Instant, rateWindows, type SlaTargets, slaTargetsOf } from '@cronjob-monitor/shared/domain';
import {
  type CatalogCronJob,
  countScheduled,
  countWithMissed,
  type DayOfCronJob,
  type Db,
  listActiveJobs,
  listCronJobs,
  listDaysOfEach,
  listMonitors,
  listMonitorsOf,
  listOpenAlerts,
  listTold,
  measureLongestFailures,
  measureLongestRuns,
  mostNamed,
  noRuns,
  type Rates,
} from '@cronjob-monitor/shared/store';
import { isSameRef } from '../../object-name.ts';
import { exportsAreWhole, offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import type { Values } from '../../middleware/validate.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { answerExport, columnsOf, exportable, exportFormat, inBatches } from '../export/answer.ts';
import { countVerdicts, type PairFacts, presentTargets, toDay } from './present.ts';
import { monthOf, readReport } from './report.ts';
import {
  namespaces,
  oneMonitor,
  orderBy,
  paging,
  search,
  sort,
  text,
  word,
  words,
} from '../../middleware/parameters.ts';
import { readSurroundings } from '../verdicts/surroundings.ts';

const usualOrder = { key: 'verdict', descending: false } as const;
const slaQuery = {
  namespace: namespaces,
  monitor: oneMonitor,
  search: search(),
  subject: words('What is asked of runs.', slaSubjects),
  verdict: words('Verdicts.', slaTargetVerdicts),
  sort: sort(slaSortKeys, usualOrder),
  group: word(
    'Keeps the targets of an owner, or of a namespace, together; the group with the first of all comes first.',
    slaGroups,
  ),
  ...paging,
  format: exportFormat,
};
const reportQuery = {
  namespace: namespaces,
  monitor: oneMonitor,
  search: search(),
  month: text('A month of UTC days, such as 2026-11; the present one without it.', 7),
};

type SlaQuery = Values<typeof slaQuery>;

/** Every target of every monitor, for each CronJob that it selects. */
export const slaRoutes = [
  route(
    {
      method: 'GET',
      path: '/sla/report',
      tag: 'CronJobs',
      id: 'getSlaReport',
      says: 'Which targets were kept in a month, and what happened in it',
      ability: 'read',
      query: reportQuery,
      answer: SlaReport,
    },
    async ({ deps, query }) => {
      const now = deps.clock.now();
      const span = monthOf(query.month, now);
      return readReport(deps, await gatherPairs(deps.store, query, now), { ...query, ...span });
    },
  ),
  route(
    {
      method: 'GET',
      path: '/sla',
      tag: 'CronJobs',
      id: 'listTargets',
      says: 'Every target of every monitor, for each CronJob',
      ability: 'read',
      ...exportable,
      query: slaQuery,
      rules: [offsetNeedsLimit, exportsAreWhole],
      answer: SlaList,
    },
    async ({ deps: { store, clock, logger }, ctx, query }) => {
      const surroundings = await readSurroundings({ store });
      const now = clock.now();
      const pairs = await gatherPairs(store, query, now);
      const targets = pairs
        .flatMap((facts) => presentTargets(facts, surroundings))
        .filter(({ subject }) => query.subject.length === 0 || query.subject.includes(subject));
      const found = targets.filter(({ verdict }) => query.verdict.length === 0 || query.verdict.includes(verdict));
      const ordered = inGroups(found.toSorted(orderBy(keys, query.sort, tiesOf)), query.group);
      if (query.format) {
        const batches = inBatches(ordered);
        return answerExport({ clock, logger }, ctx, query.format, {
          name: 'sla',
          columns: columnsOf(SlaTarget, ['daily']),
          batches,
        });
      }
      const page = pageOnWish(query);
      const shown = page ? ordered.slice(page.offset, page.offset + page.limit) : ordered;
      return {
        items: page ? await withDays(store, shown, pairs, dayOf(now)) : shown,
        summary: countVerdicts(targets),
        ...(page ? { pagination: toPagination(page, found.length) } : {}),
      };
    },
  ),
];

/** What is asked of one CronJob, as its own answer includes it; without the days. */
export async function readTargetsOf({ store, clock }: RouteDeps, { namespace, name }: Ref): Promise<SlaTarget[]> {
  const surroundings = await readSurroundings({ store });
  const pairs = await gatherPairs(
    store,
    { namespace: [], monitor: undefined, refs: [{ namespace, name }] },
    clock.now(),
  );
  return pairs.flatMap((facts) => presentTargets(facts, surroundings)).toSorted(orderBy(keys, usualOrder, tiesOf));
}

/** Those of a group stand where the first of them stands. */
function inGroups(targets: SlaTarget[], by: SlaQuery['group']): SlaTarget[] {
  if (by === undefined) return targets;
  return [
    ...Map.groupBy(targets, ({ owner, cronjob }) => (by === 'owner' ? owner : cronjob.namespace)).values(),
  ].flat();
}

/** How each of these targets fared on each of the last days. */
async function withDays(
  db: Db,
  targets: readonly SlaTarget[],
  pairs: readonly PairFacts[],
  today: number,
): Promise<SlaTarget[]> {
  const ids = new Map(pairs.map(({ cronJob: { namespace, name, id } }) => [`${namespace}/${name}`, id]));
  const idOf = ({ cronjob }: SlaTarget): number => ids.get(refText(cronjob)) ?? 0;
  const countsMissed = new Set(
    pairs.flatMap((pair) => (pair.targets.rate.countMissed ? [keyOfRate(pair.cronJob, pair.monitor)] : [])),
  );
  const withFigures = targets.filter(({ subject }) => subject === 'successRate' || subject === 'maxDuration');
  const span = { from: today - shownDays + 1, to: today };
  const days = new Map<number, ReadonlyMap<number, DayOfCronJob>>();
  const named = [...new Set(withFigures.map(idOf))];
  for (const [id, ofEach] of await listDaysOfEach(db, named, span))
    days.set(id, new Map(ofEach.map((day) => [day.day, day])));
  // A run that failed has to be done in time as well.
  const timed = withFigures.filter(({ subject }) => subject === 'maxDuration').map(idOf);
  const failures = timed.length === 0 ? undefined : await measureLongestFailures(db, [...new Set(timed)], span);
  const dayOfTarget = (target: SlaTarget, day: number): DayOfCronJob | undefined => {
    const counted = days.get(idOf(target))?.get(day);
    if (target.subject === 'successRate')
      return counted && countsMissed.has(keyOfRate(target.cronjob, target.monitor))
        ? { ...counted, failed: counted.failed + counted.missed }
        : counted;
    const failedMs = failures?.get(idOf(target))?.get(day) ?? 0;
    return counted && { ...counted, longestMs: Math.max(counted.longestMs ?? 0, failedMs) || undefined };
  };
  return targets.map((target) => ({
    ...target,
    daily: Array.from({ length: shownDays }, (_, index) => toDay(target, dayOfTarget(target, span.from + index))),
  }));
}

const keyOfRate = (cronJob: Ref, monitor: Ref): string => [cronJob, monitor].map(refText).join(' ');

const shownDays = 30;

interface Pair {
  readonly cronJob: CatalogCronJob;
  readonly monitor: Ref & { readonly monitorId: number };
  readonly targets: SlaTargets;
}

/** Every pair of a monitor with targets and a CronJob that it selects, read with a handful of questions. */
async function gatherPairs(
  db: Db,
  query: Pick<SlaQuery, 'namespace' | 'monitor'> &
    Partial<Pick<SlaQuery, 'search'>> & { readonly refs?: readonly Ref[] },
  now: Instant,
): Promise<PairFacts[]> {
  const filter = {
    kinds: ['CronJob'] as const,
    namespaces: query.namespace,
    monitor: query.monitor,
    search: query.search,
    refs: query.refs,
  };
  const [cronJobs, monitors] = await Promise.all([listCronJobs(db, filter), listMonitors(db)]);
  const ids = cronJobs.map(({ id }) => id);
  const selections = await listMonitorsOf(db, ids.length > mostNamed ? undefined : ids);
  const withAlerts = cronJobs.filter(({ activeAlerts, heldAlerts }) => activeAlerts + heldAlerts > 0);
  const alerts = (
    await listOpenAlerts(
      db,
      withAlerts.map(({ id }) => id),
    )
  ).filter(({ type }) => type === 'slaBreached');
  const told = await listTold(
    db,
    alerts.map(({ id }) => id),
  );

  const byId = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const targetsById = new Map(monitors.map(({ id, spec }) => [id, slaTargetsOf(spec)]));
  const pairs = selections.flatMap((monitor): Pair[] => {
    const cronJob = byId.get(monitor.cronJobId);
    const targets = targetsById.get(monitor.monitorId);
    return cronJob && targets && (query.monitor === undefined || isSameRef(query.monitor, monitor))
      ? [{ cronJob, monitor, targets }]
      : [];
  });
  const rates = await countRates(db, pairs, now);
  const alertByKey = new Map(alerts.map((alert) => [keyOf(alert.monitorId, alert.cronJobId, alert.subject), alert]));
  const longest = await measureLongest(db, pairs, now);
  const running = await listRunning(db, pairs);
  return pairs.map((pair) => {
    const { current = noRuns, previous = noRuns } = rates.get(pair) ?? {};
    const { monitorId, namespace, name } = pair.monitor;
    return {
      ...pair,
      monitor: { namespace, name },
      monitorId,
      longestMs: longest.get(pair),
      runningSince: running.get(pair.cronJob.id) ?? [],
      toldOf: ({ id }) => told.get(id),
      current,
      previous,
      alertOf: (subject) => alertByKey.get(keyOf(monitorId, pair.cronJob.id, subject)),
    };
  });
}

function keyOf(monitorId: number, cronJobId: number, subject: string | undefined): string {
  return `${monitorId}/${cronJobId}/${subject ?? ''}`;
}

/** The longest ended run of each pair with a longest duration. */
async function measureLongest(db: Db, pairs: readonly Pair[], now: Instant): Promise<ReadonlyMap<Pair, number>> {
  const limited = pairs.filter(({ targets }) => targets.maxDurationMs !== undefined);
  const longest = new Map<Pair, number>();
  for (const [days, group] of Map.groupBy(limited, ({ targets }) => targets.rate.windowDays)) {
    const ids = [...new Set(group.map(({ cronJob }) => cronJob.id))];
    // As with rates.
    const measured = await measureLongestRuns(db, ids, rateWindows(now, days).current);
    for (const pair of group) {
      const found = measured.get(pair.cronJob.id);
      if (found) longest.set(pair, found.durationMs);
    }
  }
  return longest;
}

async function listRunning(db: Db, pairs: readonly Pair[]): Promise<ReadonlyMap<number, readonly Instant[]>> {
  const limited = pairs.filter(({ cronJob, targets }) => cronJob.running > 0 && targets.maxDurationMs !== undefined);
  const jobs = await listActiveJobs(db, [...new Set(limited.map(({ cronJob }) => cronJob.id))]);
  const started = jobs.flatMap(({ cronJobId, trigger, startedAt }) =>
    trigger === 'scheduled' && startedAt !== undefined ? [{ cronJobId, startedAt }] : [],
  );
  const byCronJob = Map.groupBy(started, ({ cronJobId }) => cronJobId);
  return new Map(
    [...byCronJob].map(([id, list]) => [id, list.map(({ startedAt }) => startedAt).toSorted((a, b) => a - b)]),
  );
}

/** One window after the other: there are as many as monitors have different ones. */
async function countRates(db: Db, pairs: readonly Pair[], now: Instant): Promise<ReadonlyMap<Pair, Rates>> {
  const rated = pairs.filter(({ targets }) => targets.rate.minSuccessRate !== undefined);
  const groups = Map.groupBy(rated, ({ targets }) => `${targets.rate.windowDays} ${targets.rate.countMissed}`);
  const rates = new Map<Pair, Rates>();
  for (const group of groups.values()) {
    const [first] = group;
    if (!first) continue;
    const { windowDays, countMissed } = first.targets.rate;
    const ids = [...new Set(group.map(({ cronJob }) => cronJob.id))];
    const countsOf = await (countMissed ? countWithMissed : countScheduled)(db, ids, rateWindows(now, windowDays));
    for (const pair of group) rates.set(pair, countsOf(pair.cronJob.id));
  }
  return rates;
}

const byMargin: readonly SlaTargetVerdict[] = ['breached', 'pending', 'atRisk', 'met', 'noData'];

const keys: Readonly<Record<SlaSortKey, (target: SlaTarget) => string | number | null>> = {
  verdict: ({ verdict }) => slaTargetVerdicts.indexOf(verdict),
  name: ({ cronjob }) => cronjob.name,
  namespace: ({ cronjob }) => cronjob.namespace,
  failuresLeft: (target) => target.failuresLeft,
  margin: ({ verdict, budget }) => {
    const burntPercent = budget === null ? 0 : (budget.burntPercent ?? Infinity);
    // Of two in the same state the one that has used more of its budget comes first.
    return byMargin.indexOf(verdict) + 1 / (2 + burntPercent);
  },
};

const tiesOf = ({ cronjob, monitor, subject }: SlaTarget): (string | number)[] => [
  cronjob.namespace,
  cronjob.name,
  monitor.namespace,
  monitor.name,
  slaSubjects.indexOf(subject),
];
