import { hourMs, refText, unknownFieldMessage } from '@cronjob-monitor/shared/domain';
import {
  effectiveOf,
  findRegexProblem,
  lint,
  namedChannels,
  parentsOf,
  type Admitting,
  type CronJobFacts,
  type Effective,
  type Instant,
  type LintedCronJob,
  type LintFacts,
  type OwnSettings,
} from '@cronjob-monitor/shared/domain';
import { parse, rhythmOf, ScheduleError } from '@cronjob-monitor/shared/domain/schedule';
import {
  alertRulesOf,
  decodeChannelSpec,
  decodeMonitorSpec,
  findUnknownFields,
  ownOfLinted,
  reachOf,
  selectsCronJob,
  type MonitorDefaults,
  type MonitorSpec,
  type ReachRules,
} from '@cronjob-monitor/shared/kube';
import type { Finding } from './findings.ts';
import type { Resources, WrittenResource } from './resources.ts';

/** What a service reckons with whose configuration says nothing; its gates of storage are taken as open. */
export const usualDefaults: MonitorDefaults = {
  suppressDuplicatesForMs: hourMs,
  retentionDays: 30,
  maxRetentionDays: 90,
  logRetentionDays: 0,
  maxLogSizeKB: 100,
  storeLogs: true,
  storeEvents: true,
};

/** Who may select elsewhere is known to the cluster alone: here all may. */
const usualReach: ReachRules = {
  ignoredNamespaces: ['kube-system', 'kube-public', 'kube-node-lease'],
  watchNamespaces: [],
  crossNamespaceFrom: ['*'],
};

/** A monitor whose spec can be used, with the CronJobs of the files that it selects. */
export interface JudgedMonitor {
  readonly written: WrittenResource;
  readonly spec: MonitorSpec;
  readonly selected: readonly CronJobFacts[];
  /** The settings as they stand for each of these. */
  readonly settingsOf: (cronJob: SpeakingCronJob) => Effective<MonitorSpec>;
}

/** A CronJob as far as it speaks for itself. */
type SpeakingCronJob = Pick<CronJobFacts, 'namespace' | 'name' | 'labels' | 'annotations' | 'timeZone'>;

export interface JudgedResources {
  readonly monitors: readonly JudgedMonitor[];
  readonly findings: readonly Finding[];
}

/** Everything that can be said of resources without a service: each field by itself, then each monitor with what it selects. */
export function judgeResources(resources: Resources, now: Instant): JudgedResources {
  const { monitors, channels } = resources;
  const judged = monitors.map((monitor) => judgeMonitor(monitor, resources, now));
  return {
    monitors: judged.flatMap(({ monitor }) => (monitor ? [monitor] : [])),
    findings: [...resources.findings, ...judged.flatMap(({ findings }) => findings), ...channels.flatMap(judgeChannel)],
  };
}

function judgeMonitor(
  written: WrittenResource,
  resources: Resources,
  now: Instant,
): { readonly monitor: JudgedMonitor | undefined; readonly findings: readonly Finding[] } {
  const { subject, object } = written;
  const decoded = decodeMonitorSpec(object, usualDefaults, { regexProblem: findRegexProblem });
  const unknown = findUnknown(written, 'CronJobMonitor');
  if (!decoded.ok) {
    const finding = {
      subject,
      level: 'error',
      code: 'schema',
      path: 'spec',
      message: decoded.undecodable.replace(/^spec /, ''),
    } as const;
    return { monitor: undefined, findings: [...unknown, finding] };
  }
  const { spec, problems, notes } = decoded;
  const settingsOf = (cronJob: SpeakingCronJob): Effective<MonitorSpec> =>
    settingsIn(written, spec, cronJob, resources);
  const selected = watchedBy(written, spec, resources).filter((cronJob) => !settingsOf(cronJob).isIgnored);
  const monitor = { written, spec, selected, settingsOf };
  const found: Finding[] = [
    ...unknown,
    ...problems.map(({ path, message }) => ({ subject, level: 'error', code: 'schema', path, message }) as const),
    ...notes.map(({ path, message, code }) => ({ subject, level: 'note', code, path, message }) as const),
  ];
  return { monitor, findings: [...found, ...lintOffline(monitor, resources, now)] };
}

/** The lint, without what only a cluster can tell: nothing is missing from files that have no CronJob, or no channel, at all. */
function lintOffline(monitor: JudgedMonitor, resources: Resources, now: Instant): Finding[] {
  const { written, spec, selected } = monitor;
  const findings = lint({
    monitor: spec,
    cronJobs: selected.map((cronJob) => toLinted(cronJob, monitor, resources, now)),
    channelFaults: resources.channels.length === 0 ? [] : faultsOf(monitor, channelsOf(resources)),
    skewP99Ms: 0,
    isDefaultZoneGiven: false,
    dependencies: {
      namespace: written.namespace,
      of: new Map(
        resources.cronJobs.map((cronJob) => {
          const isSelected = selected.some(({ uid }) => uid === cronJob.uid);
          const rules = { namespace: written.namespace, dependsOn: isSelected ? spec.dependsOn : [], mayLookInto: all };
          return [refText(cronJob), parentsOf(cronJob, [rules])] as const;
        }),
      ),
      problemOf: ({ namespace, name }) =>
        resources.cronJobs.length === 0 ||
        resources.cronJobs.some((one) => one.namespace === namespace && one.name === name)
          ? undefined
          : 'it is not in these files',
    },
  });
  return findings
    .filter(({ code }) => code !== 'SelectorEmpty' || resources.cronJobs.length > 0)
    .map(({ level, code, path, cronJob, message }) => ({
      subject: written.subject,
      level,
      code,
      path,
      message: cronJob ? `${refText(cronJob)}: ${message}` : message,
    }));
}

/** Which namespaces a monitor may look into is known to the cluster alone. */
const all = (): boolean => true;

/** The channels of the files, as far as they say whom they admit. */
export function channelsOf({ channels }: Resources): ReadonlyMap<string, Admitting> {
  return new Map(
    channels.map(({ name, object }) => [
      name,
      { allowedNamespaces: decodeChannelSpec(object).spec?.allowedNamespaces },
    ]),
  );
}

/** Channels that are named and cannot be told, each once. */
function faultsOf(
  { spec, selected, settingsOf }: JudgedMonitor,
  channels: ReadonlyMap<string, Admitting>,
): LintFacts['channelFaults'] {
  const refs = (spec.alerting?.channelRefs ?? []).map(({ name }) => {
    return { name, reason: channels.has(name) ? undefined : ('unknownChannel' as const), isOwned: false };
  });
  const named = selected.flatMap((cronJob) =>
    namedChannels(alertRulesOf(settingsOf(cronJob)).alerting, (name) => channels.get(name)),
  );
  const faults = [...refs, ...named].flatMap(({ name, reason, isOwned }): [string, string][] => {
    if (reason === undefined || (reason === 'unknownChannel' && isOwned)) return [];
    return [[name, reason === 'unknownChannel' ? 'it is not in these files' : 'it does not admit who names it']];
  });
  return [...new Map(faults)].map(([name, why]) => ({ name, why }));
}

/** Which label names owners is known to the service alone. */
function settingsIn(
  { namespace, name }: WrittenResource,
  spec: MonitorSpec,
  cronJob: SpeakingCronJob,
  resources: Resources,
): Effective<MonitorSpec> {
  return effectiveOf({ namespace, name, spec }, ownIn(cronJob, resources), undefined);
}

function ownIn(
  { namespace, name, timeZone = 'UTC', labels, annotations = {} }: SpeakingCronJob,
  { namespaces }: Resources,
): OwnSettings {
  const of = namespaces.find((one) => one.name === namespace);
  const ofNamespace = of && { labels: of.labels, annotations: of.annotations ?? {} };
  return { namespace, name, timeZone, cronJob: { labels, annotations }, ofNamespace };
}

function toLinted(
  cronJob: CronJobFacts,
  { spec, settingsOf }: Pick<JudgedMonitor, 'spec' | 'settingsOf'>,
  resources: Resources,
  now: Instant,
): LintedCronJob {
  const own = ownIn(cronJob, resources);
  const says = Object.keys({ ...own.cronJob.annotations, ...own.ofNamespace?.annotations }).length > 0;
  const isOwn = says || (spec.alerting?.routes.length ?? 0) > 0;
  return {
    facts: cronJob,
    own: isOwn ? ownOfLinted(settingsOf(cronJob), own, now) : undefined,
    rhythm: rhythmOf(cronJob.schedule, cronJob.timeZone ?? 'UTC', now),
    durations: undefined,
    nextRunAt: cronJob.suspended ? undefined : nextRunsOf(cronJob, now, 1)[0],
  };
}

/** The next runs that are due, at most so many; none of a schedule that cannot be read. */
export function nextRunsOf({ schedule, timeZone }: CronJobFacts, now: Instant, most: number): Instant[] {
  try {
    const parsed = parse(schedule);
    const runs: Instant[] = [];
    for (let at = parsed.next(now, timeZone ?? 'UTC'); at !== null && runs.length < most;) {
      runs.push(at);
      at = parsed.next(at, timeZone ?? 'UTC');
    }
    return runs;
  } catch (error) {
    if (error instanceof ScheduleError) return [];
    throw error;
  }
}

/** What monitors without `fallback` select is not left to one with it. */
function watchedBy(written: WrittenResource, spec: MonitorSpec, resources: Resources): CronJobFacts[] {
  const selected = selectedBy(written, spec, resources);
  if (spec.selector?.fallback !== true) return selected;
  const taken = resources.monitors.flatMap((other) => {
    const decoded = decodeMonitorSpec(other.object, usualDefaults);
    return decoded.ok && decoded.spec.selector?.fallback !== true ? selectedBy(other, decoded.spec, resources) : [];
  });
  return selected.filter((cronJob) => !taken.includes(cronJob));
}

function selectedBy(
  { namespace }: WrittenResource,
  spec: MonitorSpec,
  { cronJobs, namespaces }: Resources,
): CronJobFacts[] {
  const unlabelled = cronJobs.map((cronJob) => ({
    uid: cronJob.namespace,
    name: cronJob.namespace,
    labels: {},
    monitoredFrom: [],
    deletingAt: undefined,
  }));
  const known = new Map([...unlabelled, ...namespaces].map((one) => [one.name, one]));
  const { namespaces: reached } = reachOf(namespace, spec.selector, known, usualReach);
  return cronJobs.filter((cronJob) => selectsCronJob(spec, reached, cronJob));
}

function judgeChannel(written: WrittenResource): Finding[] {
  const { subject, object } = written;
  const problems = decodeChannelSpec(object).problems.map(
    ({ path, message }) => ({ subject, level: 'error', code: 'schema', path, message }) as const,
  );
  return [...findUnknown(written, 'AlertChannel'), ...problems];
}

function findUnknown({ subject, object }: WrittenResource, kind: 'CronJobMonitor' | 'AlertChannel'): Finding[] {
  const outside = ['apiVersion', 'kind', 'metadata', 'spec', 'status'];
  const unknown = [
    ...Object.keys(object)
      .filter((name) => !outside.includes(name))
      .map((path) => ({ path, allowed: outside })),
    ...findUnknownFields(kind, object['spec']),
  ];
  return unknown.map((field) => {
    return { subject, level: 'error', code: 'schema', path: field.path, message: unknownFieldMessage(field) };
  });
}
