import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MonitorPreview, PreviewFinding, Ref } from '@cronjob-monitor/shared/contract';
import {
  ancestorsOf,
  isGroupName,
  effectiveOf,
  lint,
  parentsOf,
  parseResourceDuration,
  typesThatHold,
  previewCronJob,
  previewGroup,
  type Effective,
  type Instant,
  namedChannels,
  type LintedCronJob,
  type LintFacts,
  type OwnSettings,
  type PreviewedAlert,
  type PreviewedParent,
  type SpecEpoch,
} from '@cronjob-monitor/shared/domain';
import { rhythmOf } from '@cronjob-monitor/shared/domain/schedule';
import {
  alertRulesOf,
  decodeMonitorSpec,
  detectionRulesOf,
  groupRulesOf,
  ownOfLinted,
  selectsCronJob,
  type MonitorDefaults,
  type MonitorSpec,
} from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  findStartSkew,
  listAlerts,
  listCronJobs,
  listDependencies,
  listKeptGroups,
  listMonitors,
  listMonitorsOf,
  listRoutedChannels,
  listSpecEpochs,
  measureLastDurations,
  readHistories,
  type CatalogCronJob,
  type RoutedChannel,
  type Store,
  type StoredAlert,
  type StoredHistory,
} from '@cronjob-monitor/shared/store';
import { isFallback } from '../monitor-spec.ts';
import { readOwn, speaks } from './own-settings.ts';

export interface PreviewWish {
  readonly namespace: string;
  readonly spec: Readonly<Record<string, unknown>>;
  /** The monitor it would replace. */
  readonly name: string | undefined;
  readonly days: number;
  /** Namespaces of which the caller may read. Empty: all. */
  readonly readable: readonly string[];
  /** Whether the caller may know which channels there are. */
  readonly mayListChannels: boolean;
}

export interface PreviewDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: {
    readonly defaultTimeZone: string;
    /** False: it is the default. */
    readonly isDefaultZoneGiven: boolean;
    /** Label that names the owner; undefined: none does. */
    readonly ownerLabel: string | undefined;
    readonly monitorDefaults: MonitorDefaults;
  };
}

const dayMs = 86_400_000;
const mostCronJobs = 200;
const mostRows = 200_000;
const longestMs = 5_000;
const listedCronJobs = 100;
const listedAlerts = 200;
const longestHistoryDays = 400;
const durationsOf = 100;

type NamedAlert = PreviewedAlert & { readonly cronjob: Ref };

/** What a monitor with this spec would have said of the history that is stored. Nothing is written. api.md section 7. */
export async function previewMonitor(deps: PreviewDeps, wish: PreviewWish): Promise<MonitorPreview> {
  const { store, clock, settings } = deps;
  const startedMs = clock.monotonicMs();
  const toAt = store.now();
  const fromAt = toAt - wish.days * dayMs;
  const decoded = decodeMonitorSpec({ spec: wish.spec }, settings.monitorDefaults, {});
  if (!decoded.ok) return presentNothing([ofSchema('spec', decoded.undecodable)], { fromAt, toAt });
  const { spec } = decoded;
  const { mayListChannels } = wish;
  const faults = decoded.problems.map(({ path, message }) => ofSchema(path, message));
  const { cronJobs: ofSelector, unknownLabels } = await listMatched(store, wish, spec);
  const { taken, owns, settingsOf } = await leaveOut(
    deps,
    [...ofSelector, ...(await listMatchedGroups(store, wish, spec))],
    { namespace: wish.namespace, name: wish.name ?? '', spec },
  );
  const asked = taken.slice(0, mostCronJobs);
  const ids = asked.map(({ id }) => id);
  const history = await readHistories(store, ids, { from: fromAt - reachMs(spec), mostRows });
  const epochs = await listSpecEpochs(store, ids);
  const skewP99Ms = await findStartSkew(store);
  const waits = await gatherWaits(store, { wish, spec, asked, fromAt });
  const channels = await store.transaction((tx) => listRoutedChannels(tx));

  const alerts: NamedAlert[] = [];
  let isCut = !history.isWhole || taken.length > asked.length;
  for (const cronJob of asked) {
    if (clock.monotonicMs() - startedMs > longestMs) {
      isCut = true;
      break;
    }
    const stored = history.of.get(cronJob.id);
    if (!stored) continue;
    // A turn for others between two of them.
    await nextTurn();
    const own = owns.get(cronJob.id);
    if (!own) continue;
    const of = toPreviewed(cronJob, stored, epochs.get(cronJob.id) ?? [], settings.defaultTimeZone);
    const parents = waits?.parentsOf(cronJob);
    const found = replay(settingsOf(own), channels, { ...of, parents }, { fromAt, toAt, skewP99Ms });
    alerts.push(...found.map((alert) => ({ ...alert, cronjob: { namespace: of.namespace, name: of.name } })));
  }
  const findings = [
    ...faults,
    ...(await lintOf(deps, {
      spec,
      asked,
      owns,
      settingsOf,
      channels,
      skewP99Ms,
      toAt,
      mayListChannels,
      dependencies: waits?.linted,
    })),
  ];
  if (unknownLabels) findings.push(labelsUnknown);
  if (spec.jobs) findings.push(jobsUnknown);
  return {
    valid: faults.length === 0,
    findings,
    cronJobs: {
      matched: taken.length,
      withHistory: history.of.size,
      items: taken.slice(0, listedCronJobs).map(({ namespace, name }) => ({ namespace, name })),
      omitted: Math.max(0, taken.length - listedCronJobs),
    },
    from: textOf(fromAt),
    to: textOf(toAt),
    alerts: presentAlerts(mayListChannels ? alerts : alerts.map((alert) => ({ ...alert, channels: [] }))),
    blindSeconds: blindSecondsOf(history.of, epochs, { fromAt, toAt }),
    truncated: isCut,
  };
}

/** The alerts of one CronJob, or of a group of Jobs. */
function replay(
  settings: Effective<MonitorSpec>,
  channels: ReadonlyMap<string, RoutedChannel>,
  of: Parameters<typeof previewCronJob>[1],
  range: Parameters<typeof previewCronJob>[2],
): PreviewedAlert[] {
  const { spec } = settings;
  const detection = detectionRulesOf(spec, of.timeZone);
  // Muted now says nothing of the past.
  const alerts = { ...alertRulesOf(settings), mutedUntilAt: undefined };
  const rules = { detection, alerts, channelOf: (name: string) => channels.get(name) };
  if (!isGroupName(of.name)) return previewCronJob(rules, of, range);
  const forgetAfterMs = (spec.jobs && parseResourceDuration(spec.jobs.forgetAfter)) ?? 0;
  return previewGroup({ ...rules, detection: groupRulesOf(detection) }, of, range, forgetAfterMs);
}

/** What CronJobs say of themselves, and those that the monitor takes: their owners have the others left out. */
async function leaveOut(
  deps: PreviewDeps,
  matched: readonly CatalogCronJob[],
  monitor: { readonly namespace: string; readonly name: string; readonly spec: MonitorSpec },
): Promise<{
  readonly taken: readonly CatalogCronJob[];
  readonly owns: ReadonlyMap<number, OwnSettings>;
  readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
}> {
  const owns = await readOwn(
    deps,
    matched.map(({ id }) => id),
  );
  const settingsOf = (own: OwnSettings): Effective<MonitorSpec> => effectiveOf(monitor, own, deps.settings.ownerLabel);
  const taken = matched.filter(({ id }) => {
    const own = owns.get(id);
    return own === undefined || !settingsOf(own).isIgnored;
  });
  return { taken, owns, settingsOf };
}

/**
 * The CronJobs that the service knows and the selector takes. Their labels are in the cluster alone: where it asks for labels, those that
 * the monitor of this name selects now are taken.
 */
async function listMatched(
  store: Store,
  { namespace, name, readable }: PreviewWish,
  { selector, jobs }: MonitorSpec,
): Promise<{ readonly cronJobs: readonly CatalogCronJob[]; readonly unknownLabels: boolean }> {
  if (selector?.unusable || jobs?.only) return { cronJobs: [], unknownLabels: false };
  const asksLabels =
    Object.keys(selector?.matchLabels ?? {}).length > 0 ||
    (selector?.matchExpressions.length ?? 0) > 0 ||
    selector?.namespaceSelector !== undefined;
  if (asksLabels && name === undefined) return { cronJobs: [], unknownLabels: true };
  const named = selector?.namespaces ?? [];
  const wanted = selector?.allNamespaces || asksLabels ? [] : named.length > 0 ? named : [namespace];
  const namespaces = readable.length === 0 ? wanted : within(wanted, readable);
  if (namespaces === undefined) return { cronJobs: [], unknownLabels: asksLabels };
  const monitor = asksLabels && name !== undefined ? { namespace, name } : undefined;
  const known = await listCronJobs(store, { kinds: ['CronJob'], namespaces, monitor });
  const names = selector?.matchNames ?? [];
  const cronJobs = names.length === 0 ? known : known.filter((cronJob) => names.includes(cronJob.name));
  const left = selector?.fallback ? await leftToFallback(store, cronJobs, { namespace, name }) : cronJobs;
  return { cronJobs: left, unknownLabels: asksLabels };
}

/** The groups of Jobs that the service knows and that these criteria take: those that some monitor watches. */
async function listMatchedGroups(
  store: Store,
  { namespace, name, readable }: PreviewWish,
  { selector, jobs }: MonitorSpec,
): Promise<readonly CatalogCronJob[]> {
  if (!jobs || selector?.unusable) return [];
  // Labels of namespaces are in the cluster alone.
  const byLabel = selector?.namespaceSelector !== undefined;
  if (byLabel && name === undefined) return [];
  const named = selector?.namespaces ?? [];
  const wanted = selector?.allNamespaces || byLabel ? [] : named.length > 0 ? named : [namespace];
  const namespaces = readable.length === 0 ? wanted : within(wanted, readable);
  if (namespaces === undefined) return [];
  const monitor = byLabel && name !== undefined ? { namespace, name } : undefined;
  const facts = new Map((await listKeptGroups(store)).map((group) => [group.facts.uid, group.facts]));
  const known = await listCronJobs(store, { kinds: ['Jobs'], namespaces, monitor });
  const taken = known.filter(({ uid, namespace: of }) => {
    const group = facts.get(uid);
    return group !== undefined && selectsCronJob({ jobs }, new Set([of]), group);
  });
  return selector?.fallback ? leftToFallback(store, taken, { namespace, name }) : taken;
}

/** Those that no other monitor without `fallback` selects now. */
async function leftToFallback(
  store: Store,
  cronJobs: readonly CatalogCronJob[],
  own: Pick<PreviewWish, 'namespace' | 'name'>,
): Promise<readonly CatalogCronJob[]> {
  const others = (await listMonitors(store)).filter(
    ({ namespace, name, spec }) => (namespace !== own.namespace || name !== own.name) && !isFallback(spec),
  );
  const keeping = new Set(others.map(({ id }) => id));
  const targets = await listMonitorsOf(
    store,
    cronJobs.map(({ id }) => id),
  );
  const kept = new Set(targets.filter(({ monitorId }) => keeping.has(monitorId)).map(({ cronJobId }) => cronJobId));
  return cronJobs.filter(({ id }) => !kept.has(id));
}

/** Of the wanted namespaces those that may be read; undefined: none. Empty: all. */
function within(wanted: readonly string[], readable: readonly string[]): readonly string[] | undefined {
  if (wanted.length === 0) return readable;
  const both = wanted.filter((namespace) => readable.includes(namespace));
  return both.length === 0 ? undefined : both;
}

/** For whom the CronJobs wait, and how these fared. */
interface Waits {
  readonly parentsOf: (cronJob: CatalogCronJob) => readonly PreviewedParent[];
  readonly linted: LintFacts['dependencies'];
}

/**
 * What the spec and the annotations let CronJobs wait for, as far as the caller may read; what other monitors say of the same CronJobs is left
 * out. Undefined: none waits.
 */
async function gatherWaits(
  store: Store,
  {
    wish,
    spec,
    asked,
    fromAt,
  }: { wish: PreviewWish; spec: MonitorSpec; asked: readonly CatalogCronJob[]; fromAt: Instant },
): Promise<Waits | undefined> {
  if (spec.dependsOn.length === 0 && asked.every(({ notes }) => notes.dependsOn === undefined)) return undefined;
  const { namespace, readable } = wish;
  const mayLookInto = (other: string): boolean => readable.length === 0 || readable.includes(other);
  const known = new Set((await listCronJobs(store, { namespaces: readable })).map(nameOf));
  const rules = { namespace, dependsOn: spec.dependsOn, mayLookInto };
  const own = asked.map((cronJob) => [nameOf(cronJob), parentsOf(cronJob, [rules])] as const);
  const of = new Map([...(await listDependencies(store)), ...own]);
  const waitedFor = new Map(
    own.map(([name]) => [
      name,
      ancestorsOf(of, name).filter((parent) => mayLookInto(parent.slice(0, parent.indexOf('/')))),
    ]),
  );
  const names = [...new Set([...waitedFor.values()].flat().map((parent) => parent.slice(parent.indexOf('/') + 1)))];
  const states = ['active', 'resolved', 'expired'] as const;
  const alerts =
    names.length === 0
      ? []
      : await listAlerts(
          store,
          { states, types: typesThatHold, cronJobs: names },
          { sort: { key: 'since', descending: false } },
        );
  const byName = Map.groupBy(
    alerts.filter(({ endedAt }) => endedAt === undefined || endedAt > fromAt),
    ({ cronJob }) => nameOf(cronJob),
  );
  return {
    parentsOf: (cronJob) =>
      (waitedFor.get(nameOf(cronJob)) ?? []).flatMap((parent) => (byName.get(parent) ?? []).map(toPreviewedParent)),
    linted: {
      namespace,
      of,
      problemOf: (parent) =>
        known.has(nameOf(parent)) || !mayLookInto(parent.namespace)
          ? undefined
          : 'no CronJob that is watched has this name',
    },
  };
}

function toPreviewedParent({ id, type, severity, detectedAt, endedAt, lastNotifiedAt }: StoredAlert): PreviewedParent {
  return { id, type, severity, toldAt: lastNotifiedAt, fromAt: detectedAt, untilAt: endedAt };
}

function nameOf({ namespace, name }: Ref): string {
  return `${namespace}/${name}`;
}

/** How far before the range runs count: windows and baselines reach back. */
function reachMs({ sla }: MonitorSpec): number {
  const days = sla ? Math.max(sla.windowDays, 2 * sla.durationBaselineWindowDays) : 1;
  return Math.min(days, longestHistoryDays) * dayMs;
}

function toPreviewed(
  { uid, namespace, name, createdAt, timeZone }: CatalogCronJob,
  stored: StoredHistory,
  epochs: readonly SpecEpoch[],
  defaultZone: string,
): Parameters<typeof previewCronJob>[1] {
  return { uid, namespace, name, createdAt, timeZone: timeZone ?? defaultZone, epochs, ...stored };
}

async function lintOf(
  { store, settings }: PreviewDeps,
  of: {
    readonly spec: MonitorSpec;
    readonly asked: readonly CatalogCronJob[];
    readonly owns: ReadonlyMap<number, OwnSettings>;
    readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
    readonly channels: ReadonlyMap<string, RoutedChannel>;
    readonly skewP99Ms: number;
    readonly toAt: Instant;
    readonly mayListChannels: boolean;
    readonly dependencies: LintFacts['dependencies'];
  },
): Promise<PreviewFinding[]> {
  const { spec, asked, owns, settingsOf, skewP99Ms, toAt, mayListChannels, dependencies } = of;
  const durations = await measureLastDurations(
    store,
    asked.map(({ id }) => id),
    durationsOf,
  );
  const findings = lint({
    monitor: spec,
    cronJobs: asked.map((cronJob) => {
      const own = owns.get(cronJob.id);
      const isOwn = own !== undefined && (speaks(own) || (spec.alerting?.routes.length ?? 0) > 0);
      return {
        ...toLinted(cronJob, durations.get(cronJob.id), settings.defaultTimeZone, toAt),
        own: isOwn ? ownOfLinted(settingsOf(own), own, toAt) : undefined,
      };
    }),
    channelFaults: mayListChannels
      ? faultsOf(
          asked.flatMap(({ id }) => owns.get(id) ?? []),
          of,
        )
      : [],
    skewP99Ms,
    isDefaultZoneGiven: settings.isDefaultZoneGiven,
    dependencies,
  });
  return findings.map(({ level, code, path, cronJob, message }) => ({
    level,
    code,
    path,
    message: cronJob ? `${cronJob.namespace}/${cronJob.name}: ${message}` : message,
  }));
}

/** Channels that are named and cannot be told, each once; of a spec that selects nothing those of its `channelRefs`. */
function faultsOf(
  owns: readonly OwnSettings[],
  of: {
    readonly spec: MonitorSpec;
    readonly settingsOf: (own: OwnSettings) => Effective<MonitorSpec>;
    readonly channels: ReadonlyMap<string, RoutedChannel>;
  },
): LintFacts['channelFaults'] {
  const refs = (of.spec.alerting?.channelRefs ?? [])
    .filter(({ name }) => !of.channels.has(name))
    .map(({ name }) => ({ name, reason: 'unknownChannel' as const, isOwned: false }));
  const named = owns.flatMap((own) =>
    namedChannels(alertRulesOf(of.settingsOf(own)).alerting, (name) => of.channels.get(name)),
  );
  const faults = [...refs, ...named].flatMap(({ name, reason, isOwned }): [string, string][] => {
    if (reason === undefined || (reason === 'unknownChannel' && isOwned)) return [];
    return [[name, reason === 'unknownChannel' ? 'it does not exist' : 'it does not admit who names it']];
  });
  return [...new Map(faults)].map(([name, why]) => ({ name, why }));
}

/** What the catalog does not keep of a CronJob is taken as sound: its own page tells of that. */
function toLinted(
  { namespace, name, notes, schedule, timeZone, policy, deadlineS, nextRunAt }: CatalogCronJob,
  durations: LintedCronJob['durations'],
  defaultZone: string,
  now: Instant,
): LintedCronJob {
  const kept = { successLimit: 3, failureLimit: 1, ttlAfterFinishedS: undefined };
  const job = { activeDeadlineS: Number.MAX_SAFE_INTEGER, backoffLimit: 0, restartPolicy: 'Never' as const };
  return {
    facts: { namespace, name, notes, timeZone, policy, deadlineS, ...kept, ...job },
    rhythm: rhythmOf(schedule, timeZone ?? defaultZone, now),
    durations,
    nextRunAt,
  };
}

function presentAlerts(alerts: readonly NamedAlert[]): MonitorPreview['alerts'] {
  const sorted = alerts.toSorted((a, b) => b.sinceAt - a.sinceAt);
  const byType: Partial<Record<PreviewedAlert['type'], number>> = {};
  for (const { type } of alerts) byType[type] = (byType[type] ?? 0) + 1;
  return {
    total: alerts.length,
    byType,
    items: sorted
      .slice(0, listedAlerts)
      .map(({ type, subject, severity, cronjob, sinceAt, endedAt, message, channels }) => ({
        type,
        subject: subject ?? null,
        severity,
        cronjob,
        since: textOf(sinceAt),
        endedAt: endedAt === undefined ? null : textOf(endedAt),
        message,
        channels,
      })),
    omitted: Math.max(0, alerts.length - listedAlerts),
  };
}

/** For how long it is unknown what was due: gaps between the epochs that are certain, of the CronJob with most of it. */
function blindSecondsOf(
  histories: ReadonlyMap<number, StoredHistory>,
  epochs: ReadonlyMap<number, readonly SpecEpoch[]>,
  { fromAt, toAt }: { readonly fromAt: Instant; readonly toAt: Instant },
): number {
  const blindMs = [...histories.keys()].map((id) =>
    (epochs.get(id) ?? [])
      .filter(({ certain }) => !certain)
      .reduce(
        (sum, epoch) => sum + Math.max(0, Math.min(epoch.toAt ?? toAt, toAt) - Math.max(epoch.fromAt, fromAt)),
        0,
      ),
  );
  return Math.round(Math.max(0, ...blindMs) / 1_000);
}

function presentNothing(
  findings: readonly PreviewFinding[],
  { fromAt, toAt }: { readonly fromAt: Instant; readonly toAt: Instant },
): MonitorPreview {
  return {
    valid: false,
    findings,
    cronJobs: { matched: 0, withHistory: 0, items: [], omitted: 0 },
    from: textOf(fromAt),
    to: textOf(toAt),
    alerts: { total: 0, byType: {}, items: [], omitted: 0 },
    blindSeconds: 0,
    truncated: false,
  };
}

const labelsUnknown: PreviewFinding = {
  level: 'note',
  code: 'SelectorEmpty',
  path: 'spec.selector',
  message:
    'labels are looked at in the cluster alone: what the monitor of this name selects now is taken in their place',
};

const jobsUnknown: PreviewFinding = {
  level: 'note',
  code: 'SelectorEmpty',
  path: 'spec.jobs',
  message: 'Jobs are looked at in the cluster alone: of those that no monitor watches yet, nothing is known',
};

function ofSchema(path: string, message: string): PreviewFinding {
  return { level: 'error', code: 'schema', path, message };
}

function textOf(at: Instant): string {
  return new Date(at).toISOString();
}
