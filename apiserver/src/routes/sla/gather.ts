import type { Ref, SlaSubject } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import {
  listCronJobs,
  listLiveAlerts,
  listMonitors,
  listMonitorsOf,
  type AlertRecord,
  type CatalogCronJob,
  type Db,
} from '@cronjob-monitor/shared/store';
import { targetsOf, type SlaTargets } from '../../monitor-spec.ts';
import { windowsOf } from '../../windows.ts';
import type { SlaQuery } from './query.ts';
import { countRuns, countWithMissed, mostNamed, noRuns, type RateCounts, type Rates } from './rates.ts';

/** What one monitor asks of one CronJob, with all that the answer is told from. */
export interface PairFacts {
  readonly cronJob: CatalogCronJob;
  readonly monitor: Ref;
  readonly targets: SlaTargets;
  readonly current: RateCounts;
  /** The window before. */
  readonly previous: RateCounts;
  /** Its open alert about a subject. */
  readonly alertOf: (subject: SlaSubject) => AlertRecord | undefined;
}

interface Pair {
  readonly cronJob: CatalogCronJob;
  readonly monitor: Ref & { readonly monitorId: number };
  readonly targets: SlaTargets;
}

/** Every pair of a monitor with targets and a CronJob that it selects, read with a handful of questions. */
export async function gatherPairs(
  db: Db,
  query: Pick<SlaQuery, 'namespace' | 'monitor' | 'search'>,
  now: Instant,
): Promise<PairFacts[]> {
  const filter = { namespaces: query.namespace, monitor: query.monitor, search: query.search };
  const [cronJobs, monitors] = await Promise.all([listCronJobs(db, filter), listMonitors(db)]);
  const ids = cronJobs.map(({ id }) => id);
  const selections = await listMonitorsOf(db, ids.length > mostNamed ? undefined : ids);
  const withAlerts = cronJobs.filter(({ activeAlerts, heldAlerts }) => activeAlerts + heldAlerts > 0);
  const alerts = await listLiveAlerts(
    db,
    withAlerts.map(({ id }) => id),
  );

  const byId = new Map(cronJobs.map((cronJob) => [cronJob.id, cronJob]));
  const targetsById = new Map(monitors.map(({ id, spec }) => [id, targetsOf(spec)]));
  const pairs = selections.flatMap((monitor): Pair[] => {
    const cronJob = byId.get(monitor.cronJobId);
    const targets = targetsById.get(monitor.monitorId);
    return cronJob && targets && isAskedFor(monitor, query.monitor) ? [{ cronJob, monitor, targets }] : [];
  });
  const rates = await countRates(db, pairs, now);
  const alertByKey = new Map(
    alerts.flatMap((alert) =>
      alert.type === 'slaBreached' ? [[keyOf(alert.monitorId, alert.cronJobId, alert.subject), alert]] : [],
    ),
  );
  return pairs.map((pair) => {
    const { current = noRuns, previous = noRuns } = rates.get(pair) ?? {};
    const { monitorId, namespace, name } = pair.monitor;
    return {
      ...pair,
      monitor: { namespace, name },
      current,
      previous,
      alertOf: (subject) => alertByKey.get(keyOf(monitorId, pair.cronJob.id, subject)),
    };
  });
}

function keyOf(monitorId: number, cronJobId: number, subject: string | undefined): string {
  return `${monitorId}/${cronJobId}/${subject ?? ''}`;
}

function isAskedFor(monitor: Ref, asked: Ref | undefined): boolean {
  return asked === undefined || (asked.namespace === monitor.namespace && asked.name === monitor.name);
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
    const countsOf = await (countMissed ? countWithMissed : countRuns)(db, ids, windowsOf(now, windowDays));
    for (const pair of group) rates.set(pair, countsOf(pair.cronJob.id));
  }
  return rates;
}
