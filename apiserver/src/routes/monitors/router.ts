import {
  type MonitorCronJob,
  MonitorDetail,
  type Ref,
  monitorPhases,
  type Monitor,
  MonitorList,
  severities,
  type Condition,
  type MonitorChannel,
  type Severity,
  monitorSortKeys,
  refText,
} from '@cronjob-monitor/shared/contract';
import { slaOf, isObject } from '@cronjob-monitor/shared/domain';
import {
  countAlertsOfMonitors,
  countTargets,
  findMonitor,
  listChannels,
  listCronJobs,
  listFindings,
  type CatalogMonitor,
  listMonitors,
  type CatalogChannel,
  type MonitorCounts,
  type Store,
} from '@cronjob-monitor/shared/store';
import { notFound } from '../../errors.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { type Values } from '../../middleware/validate.ts';
import { monitorKeys } from '../clusters/orders.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { isObjectName } from '../../object-name.ts';
import { presentAll } from '../cronjobs/list.ts';
import { channelRefsOf, deadManLimitOf, maxDurationOf } from '../../monitor-spec.ts';
import { orNull, toWireInstant, toWireInstantOrNull } from '../../wire-values.ts';
import { namespaces, orderBy, paging, search, sort, words } from '../../middleware/parameters.ts';
import { namespacesOf } from '../../middleware/guard.ts';

const monitorsQuery = {
  namespace: namespaces,
  phase: words('Phases.', monitorPhases),
  search: search(),
  sort: sort(monitorSortKeys, { key: 'name', descending: false }),
  ...paging,
};
type MonitorsQuery = Values<typeof monitorsQuery>;

/** The monitors, and one of them with what it selects. */
export const monitorsRoutes = [
  route(
    {
      method: 'GET',
      path: '/monitors',
      tag: 'Monitors',
      id: 'listMonitors',
      says: 'Monitors with what their CronJobs come to',
      ability: 'readMonitors',
      query: monitorsQuery,
      rules: [offsetNeedsLimit],
      answer: MonitorList,
    },
    async ({ deps, ctx, query }) => readMonitorList(deps, query, await namespacesOf(deps.authentication, ctx, 'read')),
  ),
  route(
    {
      method: 'GET',
      path: '/monitors/:namespace/:name',
      tag: 'Monitors',
      id: 'getMonitor',
      says: 'One monitor with its spec as applied',
      ability: 'readMonitors',
      answer: MonitorDetail,
    },
    async ({ deps, ctx }) => {
      const { namespace = '', name = '' } = ctx.params;
      // A monitor may select CronJobs of namespaces that the caller may not read: they are left out of rows and counts.
      return readMonitorDetail(deps, { namespace, name }, await namespacesOf(deps.authentication, ctx, 'read'));
    },
  ),
];

/** CronJobs that the page of a monitor shows at once; all of them are in the list of CronJobs. */
const shownCronJobs = 100;

/** One monitor with what it selects, worst first. Throws NOT_FOUND. */
async function readMonitorDetail(deps: RouteDeps, ref: Ref, readable: readonly string[]): Promise<MonitorDetail> {
  const { store } = deps;
  const path = refText(ref);
  if (!isObjectName(ref.namespace) || !isObjectName(ref.name)) throw notFound('CronJobMonitor', path, 'neverSeen');
  const { monitor, wasDeleted } = await findMonitor(store, ref);
  if (!monitor) throw notFound('CronJobMonitor', path, wasDeleted ? 'deleted' : 'neverSeen');
  const [counts, alerts, findings, channels, cronJobs] = await Promise.all([
    countTargets(store, readable),
    countAlertsOfMonitors(store, readable),
    countFindings(store, readable),
    listChannels(store),
    readWorstCronJobs(deps, monitor, readable),
  ]);
  const ofThis = counts.get(monitor.id);
  return presentMonitorDetail(
    { monitor, counts: ofThis, activeAlerts: alerts.get(monitor.id) ?? 0, findings: findings.get(monitor.uid) ?? 0 },
    { channels, cronJobs, cronJobsOmitted: Math.max(0, (ofThis?.cronJobs ?? 0) - cronJobs.length) },
  );
}

async function readWorstCronJobs(
  deps: RouteDeps,
  { namespace, name }: CatalogMonitor,
  readable: readonly string[],
): Promise<MonitorCronJob[]> {
  const cronJobs = await listCronJobs(
    deps.store,
    { monitor: { namespace, name }, namespaces: readable },
    { sort: { key: 'status', descending: false }, page: { limit: shownCronJobs, offset: 0 } },
  );
  const items = await presentAll(deps, cronJobs, 0);
  return items.map((item) => ({
    namespace: item.namespace,
    name: item.name,
    status: item.status,
    verdict: item.verdict,
    suspended: item.suspended,
    successRate: item.successRate,
    activeAlerts: item.activeAlerts,
    nextRun: item.nextRun,
  }));
}

/** There are hundreds of monitors at most: they are filtered and ordered here. */
async function readMonitorList(
  { store }: RouteDeps,
  query: MonitorsQuery,
  readable: readonly string[],
): Promise<MonitorList> {
  const [monitors, counts, alerts, findings] = await Promise.all([
    listMonitors(store),
    countTargets(store, readable),
    countAlertsOfMonitors(store, readable),
    countFindings(store, readable),
  ]);
  const search = query.search?.toLowerCase();
  const items = monitors
    .filter(
      ({ namespace, name, phase }) =>
        (query.namespace.length === 0 || query.namespace.includes(namespace)) &&
        (query.phase.length === 0 || query.phase.includes(phase)) &&
        (search === undefined || name.includes(search)),
    )
    .map((monitor) =>
      presentMonitor({
        monitor,
        counts: counts.get(monitor.id),
        activeAlerts: alerts.get(monitor.id) ?? 0,
        findings: findings.get(monitor.uid) ?? 0,
      }),
    );
  const sorted = items.sort(orderBy(monitorKeys, query.sort, ({ namespace, name }) => [namespace, name]));
  const page = pageOnWish(query);
  if (!page) return { items: sorted };
  return {
    items: sorted.slice(page.offset, page.offset + page.limit),
    pagination: toPagination(page, sorted.length),
  };
}

/** What the check of settings found that is no note and is not left, by the UID of the monitor. */
async function countFindings(store: Store, readable: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const isReadable = (cronJob: Ref | undefined): boolean =>
    cronJob === undefined || readable.length === 0 || readable.includes(cronJob.namespace);
  return new Map(
    [...(await listFindings(store))].map(([uid, { findings }]) => [
      uid,
      findings.filter(({ level, isLeft, cronJob }) => level !== 'note' && !isLeft && isReadable(cronJob)).length,
    ]),
  );
}

/** Conditions that a list shows at once. */
const shownProblems = 3;

interface MonitorFacts {
  readonly monitor: CatalogMonitor;
  /** Undefined: it selects nothing. */
  readonly counts: MonitorCounts | undefined;
  readonly activeAlerts: number;
  readonly findings: number;
}

const emptyStates = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 };
const emptySummary = { healthy: 0, warning: 0, critical: 0, suspended: 0, running: 0, unknown: 0 };

function presentMonitor(facts: MonitorFacts): Monitor {
  return { ...presentBase(facts), channels: channelRefsOf(facts.monitor.spec).map(({ name }) => name) };
}

function presentBase({ monitor, counts, activeAlerts, findings }: MonitorFacts): Omit<Monitor, 'channels'> {
  const sla = slaOf(monitor.spec);
  return {
    namespace: monitor.namespace,
    name: monitor.name,
    uid: monitor.uid,
    phase: monitor.phase,
    cronJobCount: counts?.cronJobs ?? 0,
    summary: counts?.summary ?? emptySummary,
    states: counts?.states ?? emptyStates,
    activeAlerts,
    findings,
    rules: {
      maxTimeSinceLastSuccess: orNull(deadManLimitOf(monitor.spec)),
      minSuccessRate: orNull(sla.minSuccessRate),
      windowDays: sla.enabled ? sla.windowDays : null,
      maxDuration: orNull(maxDurationOf(monitor.spec)),
    },
    problems: presentConditions(monitor)
      .filter(isProblem)
      .slice(0, shownProblems)
      .map(({ type, message }) => `${type}: ${message}`),
    lastReconcile: toWireInstantOrNull(monitor.evaluatedAt),
  };
}

/** How its CronJobs fare is no problem of the monitor, and of what SpecValid says the other two are echoes for tools. */
function isProblem({ type, status, reason }: Condition): boolean {
  return status !== 'True' && type !== 'Healthy' && reason !== 'InvalidSpec';
}

function presentMonitorDetail(
  facts: MonitorFacts,
  more: {
    readonly channels: readonly CatalogChannel[];
    readonly cronJobs: readonly MonitorCronJob[];
    readonly cronJobsOmitted: number;
  },
): MonitorDetail {
  const { monitor } = facts;
  const base = presentBase(facts);
  return {
    ...base,
    channels: presentChannels(monitor, more.channels),
    createdAt: toWireInstant(monitor.createdAt),
    generation: monitor.generation,
    observedGeneration: monitor.evaluatedAt === undefined ? null : monitor.generation,
    totalCronJobs: base.cronJobCount,
    spec: isObject(monitor.spec) ? monitor.spec : {},
    conditions: presentConditions(monitor),
    cronJobs: more.cronJobs,
    cronJobsOmitted: more.cronJobsOmitted,
  };
}

/** An empty list of severities means all. */
function presentChannels({ spec }: CatalogMonitor, known: readonly CatalogChannel[]): MonitorChannel[] {
  return channelRefsOf(spec).map((ref) => {
    const channel = known.find(({ name }) => name === ref.name);
    const named = severities.filter((severity: Severity) => ref.severities.includes(severity));
    return {
      name: ref.name,
      severities: ref.severities.length === 0 ? severities : named,
      after: orNull(ref.after),
      exists: channel !== undefined,
      type: channel?.type ?? null,
      ready: channel?.ready ?? null,
    };
  });
}

/** Conditions as the reconciler wrote them; what has another form is left out. */
function presentConditions({ conditions }: CatalogMonitor): Condition[] {
  return conditions.flatMap((condition) => {
    if (!isObject(condition) || typeof condition['type'] !== 'string') return [];
    const text = (key: string): string => (typeof condition[key] === 'string' ? condition[key] : '');
    const { observedGeneration } = condition;
    return [
      {
        type: condition['type'],
        status: text('status'),
        reason: text('reason'),
        message: text('message'),
        lastTransitionTime: toInstantText(condition['lastTransitionTime']),
        observedGeneration: typeof observedGeneration === 'number' ? observedGeneration : null,
      },
    ];
  });
}

/** Kubernetes writes whole seconds; the API always has milliseconds. */
function toInstantText(value: unknown): string | null {
  const at = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  return Number.isFinite(at) ? toWireInstant(at) : null;
}
