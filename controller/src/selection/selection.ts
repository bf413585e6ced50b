import {
  effectiveOf,
  parentsOf,
  type CronJobFacts,
  type Effective,
  type Instant,
  type JobFacts,
  type NamespaceFacts,
  type OwnSettings,
} from '@cronjob-monitor/shared/domain';
import {
  reachOf,
  refusalOf,
  selectsCronJob,
  withoutNeedlessFallbacks,
  type MonitorSelector,
  type MonitorSpec,
  type Selecting,
  type Reach,
  type ReachRules,
  type RefusalReason,
} from '@cronjob-monitor/shared/kube';
import { groupOf } from './job-groups.ts';
import type { MonitorSeen } from './monitor-seen.ts';

/** Who watches whom, computed from what the caches hold now: nothing to keep in step, nothing to lose. */
export interface Selection {
  /** The monitors that select the CronJob, the leading one first: same namespace, then namespace and name. */
  monitorsOf(cronJob: CronJobFacts): readonly MonitorSeen[];
  /** By UID; of a CronJob that was deleted lately, those that selected it then. */
  monitorsOfUid(cronJobUid: string): readonly MonitorSeen[];
  isMonitored(cronJobUid: string): boolean;
  /** Whether a Job is a run of what is monitored: every Job of a CronJob, of a group those that a monitor selects. */
  takesJob(job: JobFacts): boolean;
  cronJobsOf(monitor: MonitorSeen): CronJobFacts[];
  /** A monitor would select it, and its owner has it left out. */
  isIgnored(cronJob: CronJobFacts): boolean;
  /** Something that the CronJob or its Namespace says may make the settings of the monitor others than those of other CronJobs. */
  speaks(monitor: ReadMonitor, cronJob: NamedCronJob): boolean;
  /** What the CronJob and its Namespace say of themselves. */
  ownOf(cronJob: NamedCronJob): OwnSettings;
  /** The settings of a monitor as they stand for the CronJob; undefined: its spec cannot be read. The same while nothing changes. */
  effectiveOf(monitor: ReadMonitor, cronJob: NamedCronJob): Effective<MonitorSpec> | undefined;
  reachOf(monitor: MonitorSeen): Reach;
  /** Why a monitor may not look into a namespace, whatever its selector says; undefined: it may. */
  refusalOf(monitor: MonitorSeen, namespace: string): RefusalReason | undefined;
  /** The last facts of a CronJob that is there, or was deleted lately. */
  findCronJob(uid: string): CronJobFacts | undefined;
  /** By its name: as it is, or was when it was deleted lately; else no more than the name. */
  findNamed(namespace: string, name: string): NamedCronJob;
  /** A monitor or a namespace changed: everything is asked again. */
  invalidate(): void;
  /** A CronJob was deleted: its Jobs are still being recorded. */
  departed(cronJob: CronJobFacts, at: Instant): void;
  /** A monitor was deleted: it may be made anew, and what it selects is recorded until that is no longer expected. */
  monitorDeparted(monitor: MonitorSeen, at: Instant): void;
  /** When the last monitor that this is true of was deleted; undefined: none was lately. */
  departedAt(isIt: (monitor: MonitorSeen) => boolean): Instant | undefined;
  /** Those that went before `before`, unless something of them is still in the cluster. */
  forgetDeparted(before: Instant, isNeeded: (uid: string) => boolean): void;
}

/** A CronJob that is there, or of which no more is known than its name. */
export type NamedCronJob = Pick<CronJobFacts, 'namespace' | 'name'> &
  Partial<Pick<CronJobFacts, 'labels' | 'annotations' | 'timeZone'>>;

/** A monitor as far as its settings go. */
export type ReadMonitor = Pick<MonitorSeen, 'namespace' | 'name' | 'decoded'>;

export interface SelectionSources {
  readonly monitors: { values(): Iterable<MonitorSeen> };
  readonly namespaces: { values(): Iterable<NamespaceFacts> };
  readonly cronJobs: {
    find(uid: string): CronJobFacts | undefined;
    findByName(namespace: string, name: string): CronJobFacts | undefined;
    valuesIn(namespace: string): IteratorObject<CronJobFacts>;
  };
  readonly rules: ReachRules;
  /** `cluster.default-time-zone` */
  readonly defaultZone: string;
  /** `owners.label`: the label that names the owner; undefined: none does. */
  readonly ownerLabel: string | undefined;
}

export function createSelection(from: SelectionSources): Selection {
  let reaches = new Map<string, Reach>();
  let namespaces: ReadonlyMap<string, NamespaceFacts> | undefined;
  let byNamespace = new Map<string, MonitorSeen[]>();
  let known = new WeakMap<CronJobFacts, readonly MonitorSeen[]>();
  let ownEffective = new WeakMap<NamedCronJob, Map<MonitorSpec, Effective<MonitorSpec>>>();
  const sharedEffective = new WeakMap<MonitorSpec, Effective<MonitorSpec>>();
  const departedMonitors = new Map<string, { readonly monitor: MonitorSeen; readonly at: Instant }>();
  const departed = new Map<string, { readonly cronJob: CronJobFacts; readonly at: Instant }>();

  const knownNamespaces = (): ReadonlyMap<string, NamespaceFacts> =>
    (namespaces ??= new Map([...from.namespaces.values()].map((namespace) => [namespace.name, namespace])));

  const reach = (monitor: MonitorSeen): Reach => {
    let found = reaches.get(monitor.uid);
    if (!found) {
      found = reachOf(monitor.namespace, selectorOf(monitor), knownNamespaces(), from.rules);
      reaches.set(monitor.uid, found);
    }
    return found;
  };

  /** The monitors that look into a namespace: few, where there are many in all. */
  const lookingInto = (namespace: string): MonitorSeen[] => {
    let monitors = byNamespace.get(namespace);
    if (!monitors) {
      monitors = [...from.monitors.values()]
        .filter((monitor) => monitor.decoded.ok && reach(monitor).namespaces.has(namespace))
        .sort(leadingFirst(namespace));
      byNamespace.set(namespace, monitors);
    }
    return monitors;
  };

  const ownOf = ({ namespace, name, labels = {}, annotations = {}, timeZone }: NamedCronJob): OwnSettings => {
    const of = knownNamespaces().get(namespace);
    return {
      namespace,
      name,
      timeZone: timeZone ?? from.defaultZone,
      cronJob: { labels, annotations },
      ofNamespace: of && { labels: of.labels, annotations: of.annotations ?? {} },
    };
  };

  const effective = (monitor: ReadMonitor, cronJob: NamedCronJob): Effective<MonitorSpec> | undefined => {
    if (!monitor.decoded.ok) return undefined;
    const { spec } = monitor.decoded;
    const make = (): Effective<MonitorSpec> => {
      const { namespace, name } = monitor;
      return effectiveOf({ namespace, name, spec }, ownOf(cronJob), from.ownerLabel);
    };
    // Most CronJobs say nothing, and most monitors ask for nothing that differs between them: they share one.
    if (!speaksUnder(monitor, cronJob)) return kept(sharedEffective, spec, make);
    const ofCronJob = kept(ownEffective, cronJob, () => new Map<MonitorSpec, Effective<MonitorSpec>>());
    return kept(ofCronJob, spec, make);
  };

  const speaksUnder = ({ decoded }: ReadMonitor, cronJob: NamedCronJob): boolean =>
    speaks(cronJob) || (decoded.ok && (decoded.spec.alerting?.routes.length ?? 0) > 0);

  const speaks = ({ namespace, annotations }: NamedCronJob): boolean =>
    annotations !== undefined || knownNamespaces().get(namespace)?.annotations !== undefined;

  const takersOf = (cronJob: CronJobFacts): MonitorSeen[] =>
    lookingInto(cronJob.namespace).filter((monitor) =>
      selectsCronJob(selectingOf(monitor), reach(monitor).namespaces, cronJob),
    );

  const monitorsOf = (cronJob: CronJobFacts): readonly MonitorSeen[] => {
    let monitors = known.get(cronJob);
    if (!monitors) {
      const selecting = takersOf(cronJob).filter((monitor) => effective(monitor, cronJob)?.isIgnored !== true);
      monitors = withoutNeedlessFallbacks(selecting, selectorOf);
      known.set(cronJob, monitors);
    }
    return monitors;
  };

  const findCronJob = (uid: string): CronJobFacts | undefined => from.cronJobs.find(uid) ?? departed.get(uid)?.cronJob;
  const monitorsOfUid = (uid: string): readonly MonitorSeen[] => {
    const cronJob = findCronJob(uid);
    return cronJob ? monitorsOf(cronJob) : [];
  };

  const hasDepartedMonitor = (uid: string): boolean => {
    if (departedMonitors.size === 0) return false;
    const cronJob = findCronJob(uid);
    if (!cronJob) return false;
    return departedMonitors.values().some(({ monitor }) => {
      const { namespaces: reached } = reach(monitor);
      return monitor.decoded.ok && selectsCronJob(selectingOf(monitor), reached, cronJob);
    });
  };

  return {
    monitorsOf,
    monitorsOfUid,
    isMonitored: (uid) => monitorsOfUid(uid).length > 0 || hasDepartedMonitor(uid),
    takesJob: (job) => job.marks === undefined || monitorsOf(groupOf(job, job.marks, undefined)).length > 0,
    // A monitor looks into few namespaces of many: the others are not read.
    cronJobsOf: (monitor) =>
      monitor.decoded.ok
        ? [...reach(monitor).namespaces]
            .flatMap((namespace) => [...from.cronJobs.valuesIn(namespace)])
            .filter((cronJob) => monitorsOf(cronJob).some(({ uid }) => uid === monitor.uid))
        : [],
    isIgnored: (cronJob) => speaks(cronJob) && monitorsOf(cronJob).length === 0 && takersOf(cronJob).length > 0,
    ownOf,
    speaks: speaksUnder,
    effectiveOf: effective,
    reachOf: reach,
    refusalOf: (monitor, namespace) => refusalOf(namespace, monitor.namespace, knownNamespaces(), from.rules),
    findCronJob,
    findNamed: (namespace, name) =>
      from.cronJobs.findByName(namespace, name) ??
      [...departed.values()].findLast(({ cronJob }) => cronJob.namespace === namespace && cronJob.name === name)
        ?.cronJob ?? { namespace, name },
    invalidate() {
      reaches = new Map();
      namespaces = undefined;
      byNamespace = new Map();
      known = new WeakMap();
      ownEffective = new WeakMap();
    },
    departed: (cronJob, at) => void departed.set(cronJob.uid, { cronJob, at }),
    monitorDeparted: (monitor, at) =>
      void departedMonitors.set(`${monitor.namespace}/${monitor.name}`, { monitor, at }),
    departedAt: (isIt) => departedMonitors.values().find(({ monitor }) => isIt(monitor))?.at,
    forgetDeparted(before, isNeeded) {
      for (const [key, { at }] of departedMonitors) if (at < before) departedMonitors.delete(key);
      for (const [uid, { at }] of departed) if (at < before && !isNeeded(uid)) departed.delete(uid);
    },
  };
}

/** The CronJobs that one waits for, as `namespace/name`, by what it and its monitors say. */
export function dependsOn(cronJob: CronJobFacts, selection: Pick<Selection, 'monitorsOf' | 'reachOf'>): string[] {
  const monitors = selection.monitorsOf(cronJob).flatMap((monitor) => {
    const { namespace, decoded } = monitor;
    const mayLookInto = (other: string): boolean => selection.reachOf(monitor).namespaces.has(other);
    return decoded.ok ? [{ namespace, dependsOn: decoded.spec.dependsOn, mayLookInto }] : [];
  });
  return parentsOf(cronJob, monitors);
}

function kept<K extends object, V>(
  map: { get(key: K): V | undefined; set(key: K, value: V): unknown },
  key: K,
  make: () => V,
): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

function selectorOf(monitor: MonitorSeen): MonitorSelector | undefined {
  return monitor.decoded.ok ? monitor.decoded.spec.selector : undefined;
}

function selectingOf({ decoded }: MonitorSeen): Selecting {
  return decoded.ok ? decoded.spec : {};
}

function leadingFirst(namespace: string): (a: MonitorSeen, b: MonitorSeen) => number {
  return (a, b) =>
    Number(b.namespace === namespace) - Number(a.namespace === namespace) ||
    compare(a.namespace, b.namespace) ||
    compare(a.name, b.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
