import { type AlertRoute, type AlertType, alertTypeTable, type Ref, refText } from '@cronjob-monitor/shared/contract';
import {
  type AlertRecord,
  type ChannelAtSend,
  exampleOutgoing,
  follow,
  type Instant,
  isGroupName,
  type JudgedRun,
  outcomeOf,
  type ReachFacts,
  type Route,
  type RouteMoment,
  routeOf,
  type RouteRules,
  wayOf,
} from '@cronjob-monitor/shared/domain';
import {
  type CatalogCronJob,
  findAdmission,
  listChannelHolds,
  listChannelStates,
  listExecutions,
  listLastAlerts,
  listMonitorsOf,
  listParentAlerts,
  listRecentSlots,
  listSilences,
  type StoredExecution,
} from '@cronjob-monitor/shared/store';
import { orNull, toWireInstantOrNull } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { limitsOf } from '../channels/present.ts';
import { acceptedSince } from './list.ts';

/** What is asked about a CronJob. */
interface RouteQuestion {
  readonly types: readonly AlertType[];
  readonly days: number;
  readonly byDrills: boolean;
  readonly at: Instant;
  readonly isNow: boolean;
  /** Messages are shown as each channel would get them. */
  readonly renders: boolean;
  /** Whether the alerts of a namespace may be named: a CronJob may wait for one of another. */
  readonly mayRead: (namespace: string) => Promise<boolean>;
}

/** Runs, expected runs and alerts that are looked at. */
const mostLooked = 100;

/** What an alert of each type would do under each monitor of the CronJob. */
export async function readRoutes(
  deps: RouteDeps,
  cronJob: CatalogCronJob,
  question: RouteQuestion,
): Promise<AlertRoute[]> {
  const facts = await readFacts(deps, cronJob, question);
  const routes: AlertRoute[] = [];
  for (const { monitorId, namespace, name } of facts.monitors) {
    const found = facts.rulesOf(monitorId, cronJob.id);
    if (!found) continue;
    const rules = isGroupName(cronJob.name)
      ? { ...found, looksFor: found.looksForInGroups, expects: undefined }
      : found;
    const ofMonitor = facts.alerts.filter((alert) => alert.monitorId === monitorId);
    for (const type of question.types) {
      const of = { rules, type, monitor: { namespace, name }, alerts: ofMonitor };
      routes.push(await presentRoute(deps, cronJob, question, facts, of));
    }
  }
  return routes;
}

type RouteFacts = Awaited<ReturnType<typeof readFacts>>;

async function readFacts(deps: RouteDeps, cronJob: CatalogCronJob, { days, byDrills, at, mayRead }: RouteQuestion) {
  const { store, actions } = deps;
  const ids = [cronJob.id];
  const ref = refText(cronJob);
  const [monitors, rulesOf, channels, specs, silences, alerts, runs, slots, parents] = await Promise.all([
    listMonitorsOf(store, ids),
    actions.readRouteRules(ids),
    listChannelHolds(store),
    listChannelStates(store),
    listSilences(store, store.now()),
    listLastAlerts(store, ids, mostLooked),
    listExecutions(
      store,
      { cronJobIds: ids, statuses: ['success', 'failed'] },
      { page: { limit: mostLooked, offset: 0 } },
    ),
    listRecentSlots(store, ids, mostLooked),
    cronJob.dependsOn.length === 0 ? undefined : listParentAlerts(store, [ref]),
  ]);
  const reach: ReachFacts = {
    channels: new Map(channels.map((channel) => [channel.name, channel])),
    acceptedSinceAt: acceptedSince(store.now(), days),
    byDrills,
  };
  const specOf = new Map(specs.map(({ name, spec }) => [name, spec]));
  const limits = createLimits(
    deps,
    new Map(channels.map(({ uid, name }) => [name, { uid, spec: specOf.get(name) }])),
    at,
  );
  const parentAlerts = parents?.get(ref) ?? [];
  const isUnnamed = await Promise.all(parentAlerts.map(async ({ namespace }) => !(await mayRead(namespace))));
  const holds = new Map(channels.map(({ name, hold, untilAt }) => [name, hold === undefined ? undefined : untilAt]));
  return {
    monitors,
    rulesOf,
    reach,
    specOf,
    holds,
    limits,
    silences,
    alerts,
    runs,
    slots,
    parents: parentAlerts,
    unnamed: parentAlerts.filter((_, index) => isUnnamed[index]).map(({ id }) => id),
  };
}

/** When the limits let a message pass: asked once for each channel, severity and instant. */
function createLimits(
  { store, settings: { globalLimit } }: RouteDeps,
  channels: ReadonlyMap<string, { readonly uid: string; readonly spec: unknown }>,
  askedAt: Instant,
) {
  const known = new Map<string, ReturnType<typeof findAdmission>>();
  return async (name: string, severity: string, at: Instant = askedAt): Promise<ChannelAtSend['limited']> => {
    const channel = channels.get(name);
    if (!channel) return undefined;
    const key = `${name} ${severity} ${at}`;
    const { maxAlertsPerHour, burstLimit } = limitsOf(channel.spec);
    const limit = { maxPerHour: maxAlertsPerHour, burst: burstLimit };
    const asked = known.get(key) ?? findAdmission(store, { channelUid: channel.uid, severity, globalLimit, limit, at });
    known.set(key, asked);
    return asked;
  };
}

/** Newest first, those that the monitor counts. */
function toJudged(runs: readonly StoredExecution[], { jobFailed }: RouteRules): JudgedRun[] {
  return runs
    .filter(({ trigger }) => trigger === 'scheduled' || jobFailed.includeManual)
    .flatMap(({ jobName, status, finishedAt, createdAt, exitCode, reason }): JudgedRun[] =>
      status === 'success' || status === 'failed'
        ? [{ jobName, status, endedAt: finishedAt ?? createdAt, exitCode, reason }]
        : [],
    );
}

/** One monitor and one type. */
interface AskedRoute {
  readonly rules: RouteRules;
  readonly type: AlertType;
  readonly monitor: Ref;
  /** Of the monitor, the open ones first. */
  readonly alerts: readonly AlertRecord[];
}

async function presentRoute(
  deps: RouteDeps,
  cronJob: CatalogCronJob,
  question: RouteQuestion,
  facts: RouteFacts,
  of: AskedRoute,
): Promise<AlertRoute> {
  const { rules, type, monitor } = of;
  const { route, quiet, heldBy, followed } = judgeRoute(cronJob, question, facts, of);
  const atSend = new Map<string, ChannelAtSend>();
  for (const { name, afterMs } of route.channels) {
    const sentAt = followed?.toldAt === undefined ? undefined : followed.toldAt + afterMs;
    const limited = sentAt === undefined ? undefined : await facts.limits(name, route.severity, sentAt);
    atSend.set(name, { heldUntilAt: facts.holds.get(name), limited });
  }
  const { at, isNow } = question;
  const way = wayOf({ rules, route, monitor, at, isNow, quiet, followed, atSend: (name) => atSend.get(name) });
  const render = question.renders
    ? rendererOf(deps, cronJob, facts, { ...of, severity: route.severity, at })
    : undefined;
  const { severity, severitySource, state, refused } = route;
  const named = (text: string | undefined): string | null =>
    text === undefined || facts.unnamed.some((id) => text.includes(id)) ? null : text;
  return {
    monitor,
    type,
    opens: quiet === undefined,
    quiet: orNull(quiet),
    severity,
    severitySource,
    holds: heldBy.map(({ reason, untilAt, ref }) => ({
      reason,
      until: toWireInstantOrNull(untilAt),
      ref: named(ref),
    })),
    state,
    reason: orNull(route.reason),
    channels: await presentChannels(route, way, render),
    refused,
    words: way.words,
    steps: way.steps.map(({ at: passedAt, href, ...step }) => ({
      ...step,
      at: toWireInstantOrNull(passedAt),
      href: named(href),
    })),
  };
}

function judgeRoute(cronJob: CatalogCronJob, { at }: RouteQuestion, facts: RouteFacts, of: AskedRoute) {
  const { rules, type, monitor, alerts } = of;
  const { silences, parents, reach } = facts;
  const last = alerts.find((alert) => alert.type === type);
  const moment: RouteMoment = {
    monitor,
    cronJob,
    silences,
    last,
    parents,
    runs: toJudged(facts.runs, rules),
    slots: facts.slots.get(cronJob.id) ?? [],
    now: at,
  };
  const route = routeOf(rules, type, reach);
  const { quiet, holds: heldBy } = outcomeOf(route, rules, moment);
  if (quiet !== undefined) return { route, quiet, heldBy, followed: undefined };
  // Where a type has subjects each has an alert of its own, and none of them is the one that is asked about.
  const hasSubjects = alertTypeTable[type].subjects.length > 0;
  const followed = follow(rules, type, {
    monitor,
    cronJob: { namespace: cronJob.namespace, name: cronJob.name },
    at,
    silences,
    parents,
    channelOf: (name) => reach.channels.get(name),
    last: hasSubjects ? undefined : last,
    others: alerts.filter((alert) => alert.state === 'active' && (hasSubjects || alert !== last)),
  });
  return { route, quiet, heldBy, followed };
}

function presentChannels(
  route: Route,
  way: ReturnType<typeof wayOf>,
  render: ReturnType<typeof rendererOf> | undefined,
): Promise<AlertRoute['channels']> {
  const ways = new Map(way.channels.map((channel) => [channel.name, channel]));
  return Promise.all(
    route.channels.map(async ({ name, via, afterMs, state, reason }) => ({
      name,
      via,
      afterSeconds: afterMs / 1_000,
      state,
      reason: orNull(reason),
      at: toWireInstantOrNull(ways.get(name)?.at),
      words: ways.get(name)?.words ?? `${name} does not hear`,
      rendered: (await render?.(name)) ?? null,
    })),
  );
}

/** What each channel would get, by its name. */
function rendererOf(
  { actions, settings }: RouteDeps,
  { namespace, name }: CatalogCronJob,
  { specOf }: RouteFacts,
  { type, severity, monitor, at }: Pick<AlertRoute, 'type' | 'severity' | 'monitor'> & { readonly at: Instant },
) {
  const { clusterName: cluster, externalUrl } = settings;
  const outgoing = exampleOutgoing({ cluster, externalUrl, monitor, cronJob: { namespace, name }, type, severity, at });
  return async (channel: string) => (await actions.renderMessages(specOf.get(channel), [outgoing]))[0];
}
