import {
  effectiveOf,
  judgingWords,
  parentsOf,
  windowAt,
  type Annotations,
  groupOf,
  type CronJobFacts,
  type Effective,
  type Instant,
  type JobFacts,
  type JobSnapshot,
  type JudgingWords,
  type NamespaceFacts,
  type OwnSettings,
  type Said,
  refText,
} from '@cronjob-monitor/shared/domain';
import {
  reachOf,
  refusalOf,
  selectsCronJob,
  windowsOf,
  withoutNeedlessFallbacks,
  type MonitorSelector,
  type MonitorSpec,
  type Reach,
  type ReachRules,
  type RefusalReason,
  type Selecting,
} from '@cronjob-monitor/shared/kube';
import type { MonitorSeen } from './monitor-seen.ts';

/** Which monitors select which CronJobs, computed from the caches on each call, so that nothing has to be kept in step. */
export interface Selection {
  /** The monitors that select the CronJob, the leading one first: same namespace, then namespace and name. */
  monitorsOf(cronJob: CronJobFacts): readonly MonitorSeen[];
  /** The same by UID; of a CronJob that was deleted lately, as it was then. Includes monitors that it left and that have yet to judge it. */
  monitorsOfUid(cronJobUid: string): readonly MonitorSeen[];
  isMonitored(cronJobUid: string): boolean;
  /** Whether a Job is a monitored run: every Job of a CronJob is; of a group those that a monitor selects. */
  takesJob(job: JobFacts): boolean;
  cronJobsOf(monitor: MonitorSeen): CronJobFacts[];
  /** Whether a monitor would select the CronJob, but its owner has it left out. */
  isIgnored(cronJob: CronJobFacts): boolean;
  /** Whether annotations of the CronJob or its Namespace may change the settings of the monitor for it. */
  speaks(monitor: ReadMonitor, cronJob: NamedCronJob): boolean;
  /** The annotations of the CronJob and its Namespace. */
  ownOf(cronJob: NamedCronJob): OwnSettings;
  /** The settings of a monitor as they stand for the CronJob; undefined: its spec cannot be read. The same while nothing changes. */
  effectiveOf(
    monitor: ReadMonitor,
    cronJob: NamedCronJob,
    /** Of another time. */
    words?: JudgingWords,
  ): Effective<MonitorSpec> | undefined;
  reachOf(monitor: MonitorSeen): Reach;
  /** Why a monitor may not look into a namespace, whatever its selector says; undefined: it may. */
  refusalOf(monitor: MonitorSeen, namespace: string): RefusalReason | undefined;
  /** The last facts of a CronJob that is there, or was deleted lately. */
  findCronJob(uid: string): CronJobFacts | undefined;
  /** The CronJob of this name as it is, or as it was when it was deleted or remembered; else no more than the name. */
  findNamed(namespace: string, name: string): NamedCronJob;
  /** Remembers deleted CronJobs that monitors expect, as they were last seen, in place of those remembered before. */
  remember(gone: readonly NamedCronJob[]): void;
  /** Forgets computed answers, since a monitor or a namespace changed. */
  invalidate(): void;
  /** Notes that a CronJob was deleted: its Jobs are still being recorded. */
  departed(
    departure: Pick<DepartedCronJob, 'cronJob' | 'at' | 'thereUntilAt'>,
    /** Since when a monitor selected it, as `SelectionStarts` knows it. */
    sinceOf: (monitorUid: string, cronJobUid: string) => Instant | undefined,
  ): void;
  /** CronJobs of its name that were deleted lately, itself among them if it was. */
  departuresOf(uid: string): readonly DepartedCronJob[];
  /** Notes that a monitor no longer selects a CronJob: the monitor still judges the time before. */
  left(
    leave: Pick<DepartedCronJob, 'cronJob' | 'at' | 'heardMs'> & {
      readonly monitor: MonitorSeen;
      /** Since when the monitor selected it, if an edit began that. */
      readonly selectedSinceAt: Instant | undefined;
    },
  ): void;
  /** The departures of a CronJob from monitors that have not judged it yet. */
  leavesOf(cronJobUid: string): readonly DepartedCronJob[];
  /** Those of them that come next: a CronJob may leave a monitor again before the first time is written. */
  nextLeavesOf(cronJobUid: string): readonly DepartedCronJob[];
  /** The next departures from a monitor that are not written yet, judged or not, and the deleted CronJobs that it has yet to judge. */
  leftBy(monitorUid: string): DepartedCronJob[];
  /** Forgets departures whose rows are written. */
  forgetLeaves(leaves: readonly DepartedCronJob[]): void;
  /** Notes that a monitor was deleted: runs that it selects are recorded for as long as it may be made anew. */
  monitorDeparted(monitor: MonitorSeen, at: Instant): void;
  /** The instant at which the last such monitor was deleted; undefined: none was lately. */
  departedAt(isIt: (monitor: MonitorSeen) => boolean): Instant | undefined;
  /** Forgets departures from before `before`, unless the cluster still holds something of them. */
  forgetDeparted(before: Instant, isNeeded: (uid: string) => boolean): void;
}

/** A CronJob that was deleted or left a monitor, as it was then. */
export interface DepartedCronJob {
  readonly cronJob: CronJobFacts;
  /** The monitor that it left, as that was then; undefined: the CronJob was deleted. */
  readonly monitor?: MonitorSeen | undefined;
  /**
   * The monitors that judge it, as they were then: the one that it left, or all that selected it. Each with the instant since which it did
   * without a break; undefined: no edit began that.
   */
  readonly judges: ReadonlyMap<MonitorSeen, Instant | undefined>;
  readonly at: Instant;
  /** Since then, by the monotonic clock, its Jobs are being read anew; undefined: they were known all the time. */
  readonly heardMs?: number | undefined;
  /** When it was surely there: until it went, but where the watch had been broken before. */
  readonly thereUntilAt: Instant;
  /** What was written of its runs and is judged with it: when the last one ended, and Jobs that went before they had ended. */
  lastEndedAt: Instant;
  /** When the first of them ended. */
  firstEndedAt: Instant;
  readonly goneJobs: JobSnapshot[];
  /** It was judged as it was when it went: a run that is recorded later is judged by itself. */
  isJudged: boolean;
  /** The row of the one that was deleted says so, or was pruned since. */
  isWritten: boolean;
}

/** A CronJob that is there, or of which no more is known than its name. */
type NamedCronJob = Pick<CronJobFacts, 'namespace' | 'name'> &
  Partial<Pick<CronJobFacts, 'labels' | 'annotations' | 'timeZone'>>;

/** A monitor as far as its settings go. */
type ReadMonitor = Pick<MonitorSeen, 'namespace' | 'name' | 'decoded'>;

interface SelectionSources {
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
  return new KnownSelection(from);
}

class KnownSelection implements Selection {
  readonly #from: SelectionSources;
  #reaches = new Map<string, Reach>();
  #namespaces: ReadonlyMap<string, NamespaceFacts> | undefined;
  #byNamespace = new Map<string, MonitorSeen[]>();
  #known = new WeakMap<CronJobFacts, readonly MonitorSeen[]>();
  #ownEffective = new WeakMap<NamedCronJob, Map<MonitorSpec, Effective<MonitorSpec>>>();
  readonly #sharedEffective = new WeakMap<MonitorSpec, Effective<MonitorSpec>>();
  readonly #departedMonitors = new Map<string, { readonly monitor: MonitorSeen; readonly at: Instant }>();
  readonly #departed = new Map<string, DepartedCronJob>();
  readonly #leaves = new Map<string, DepartedCronJob[]>();
  #remembered: ReadonlyMap<string, NamedCronJob> = new Map();

  constructor(from: SelectionSources) {
    this.#from = from;
  }

  reachOf(monitor: MonitorSeen): Reach {
    let found = this.#reaches.get(monitor.uid);
    if (!found) {
      found = reachOf(monitor.namespace, selectorOf(monitor), this.#knownNamespaces(), this.#from.rules);
      this.#reaches.set(monitor.uid, found);
    }
    return found;
  }

  ownOf({ namespace, name, labels = {}, annotations = {}, timeZone }: NamedCronJob): OwnSettings {
    const of = this.#knownNamespaces().get(namespace);
    return {
      namespace,
      name,
      timeZone: timeZone ?? this.#from.defaultZone,
      cronJob: { labels, annotations },
      ofNamespace: of && { labels: of.labels, annotations: of.annotations ?? {} },
    };
  }

  effectiveOf(monitor: ReadMonitor, cronJob: NamedCronJob, words?: JudgingWords): Effective<MonitorSpec> | undefined {
    if (!monitor.decoded.ok) return undefined;
    const { spec } = monitor.decoded;
    const make = (): Effective<MonitorSpec> => {
      const { namespace, name } = monitor;
      const own = this.ownOf(cronJob);
      return effectiveOf({ namespace, name, spec }, words ? saying(own, words) : own, this.#from.ownerLabel);
    };
    if (words) return make();
    // Most CronJobs say nothing, and most monitors ask for nothing that differs between them: they share one.
    if (!this.speaks(monitor, cronJob)) return kept(this.#sharedEffective, spec, make);
    const ofCronJob = kept(this.#ownEffective, cronJob, () => new Map<MonitorSpec, Effective<MonitorSpec>>());
    return kept(ofCronJob, spec, make);
  }

  speaks({ decoded }: ReadMonitor, cronJob: NamedCronJob): boolean {
    return this.#isAnnotated(cronJob) || (decoded.ok && (decoded.spec.alerting?.routes.length ?? 0) > 0);
  }

  monitorsOf(cronJob: CronJobFacts): readonly MonitorSeen[] {
    let monitors = this.#known.get(cronJob);
    if (!monitors) {
      const selecting = this.#takersOf(cronJob).filter(
        (monitor) => this.effectiveOf(monitor, cronJob)?.isIgnored !== true,
      );
      monitors = withoutNeedlessFallbacks(selecting, selectorOf);
      this.#known.set(cronJob, monitors);
    }
    return monitors;
  }

  findCronJob(uid: string): CronJobFacts | undefined {
    return this.#from.cronJobs.find(uid) ?? this.#departed.get(uid)?.cronJob;
  }

  monitorsOfUid(uid: string): readonly MonitorSeen[] {
    const cronJob = this.findCronJob(uid);
    const present = cronJob ? this.monitorsOf(cronJob) : [];
    const deleted = this.#departed.get(uid);
    const unjudged = deleted?.isJudged === false ? [deleted] : [];
    const left = [...this.leavesOf(uid), ...unjudged].flatMap(({ judges }) => [...judges.keys()]);
    return left.length === 0
      ? present
      : [...present, ...left.filter((one) => !present.some(({ uid }) => uid === one.uid))];
  }

  isMonitored(uid: string): boolean {
    return this.monitorsOfUid(uid).length > 0 || this.#hasDepartedMonitor(uid);
  }

  takesJob(job: JobFacts): boolean {
    if (job.marks !== undefined) return this.monitorsOf(groupOf(job, job.marks, undefined)).length > 0;
    const leaves = this.leavesOf(job.cronJobUid);
    if (leaves.length === 0 || this.#hasDepartedMonitor(job.cronJobUid)) return true;
    const cronJob = this.findCronJob(job.cronJobUid);
    if (cronJob !== undefined && this.monitorsOf(cronJob).length > 0) return true;
    return leaves.some(({ at }) => (job.endedAt ?? Infinity) <= at);
  }

  // A monitor looks into few namespaces of many: the others are not read.
  cronJobsOf(monitor: MonitorSeen): CronJobFacts[] {
    return monitor.decoded.ok
      ? [...this.reachOf(monitor).namespaces]
          .flatMap((namespace) => [...this.#from.cronJobs.valuesIn(namespace)])
          .filter((cronJob) => this.monitorsOf(cronJob).some(({ uid }) => uid === monitor.uid))
      : [];
  }

  isIgnored(cronJob: CronJobFacts): boolean {
    return this.#isAnnotated(cronJob) && this.monitorsOf(cronJob).length === 0 && this.#takersOf(cronJob).length > 0;
  }

  refusalOf(monitor: MonitorSeen, namespace: string): RefusalReason | undefined {
    return refusalOf(namespace, monitor.namespace, this.#knownNamespaces(), this.#from.rules);
  }

  findNamed(namespace: string, name: string): NamedCronJob {
    return (
      this.#from.cronJobs.findByName(namespace, name) ??
      [...this.#departed.values()].findLast(({ cronJob }) => cronJob.namespace === namespace && cronJob.name === name)
        ?.cronJob ??
      this.#remembered.get(refText({ namespace, name })) ?? { namespace, name }
    );
  }

  remember(gone: readonly NamedCronJob[]): void {
    this.#remembered = new Map(gone.map((cronJob) => [refText(cronJob), cronJob]));
  }

  invalidate(): void {
    this.#reaches = new Map();
    this.#namespaces = undefined;
    this.#byNamespace = new Map();
    this.#known = new WeakMap();
    this.#ownEffective = new WeakMap();
  }

  departed(...[departure, sinceOf]: Parameters<Selection['departed']>): void {
    const { cronJob } = departure;
    const judges = new Map(this.monitorsOf(cronJob).map((monitor) => [monitor, sinceOf(monitor.uid, cronJob.uid)]));
    this.#departed.set(cronJob.uid, toDeparted({ ...departure, judges }));
  }

  left({ selectedSinceAt, ...leave }: Parameters<Selection['left']>[0]): void {
    const { uid } = leave.cronJob;
    const { monitor } = leave;
    // It leaves once more where the monitor selected it anew after the last time.
    const isKnown = ({ monitor: other, at }: DepartedCronJob): boolean =>
      other?.uid === monitor.uid && (selectedSinceAt ?? -Infinity) <= at;
    if (this.leavesOf(uid).some(isKnown)) return;
    const judges = new Map([[leave.monitor, selectedSinceAt]]);
    const noted = toDeparted({ ...leave, judges, thereUntilAt: leave.at });
    this.#leaves.set(uid, [...(this.#leaves.get(uid) ?? []), noted]);
  }

  leavesOf(uid: string): readonly DepartedCronJob[] {
    return this.#leaves.get(uid)?.filter(({ isJudged }) => !isJudged) ?? [];
  }

  nextLeavesOf(uid: string): readonly DepartedCronJob[] {
    return firstOfEach(this.#leaves.get(uid) ?? []).filter(({ isJudged }) => !isJudged);
  }

  leftBy(monitorUid: string): DepartedCronJob[] {
    const deleted = this.#departed.values().filter(({ isJudged, isWritten }) => !isJudged && !isWritten);
    return [...[...this.#leaves.values()].flatMap(firstOfEach), ...deleted].filter(({ judges }) =>
      judges.keys().some(({ uid }) => uid === monitorUid),
    );
  }

  forgetLeaves(leaves: readonly DepartedCronJob[]): void {
    for (const { uid } of leaves.map(({ cronJob }) => cronJob)) {
      const others = this.#leaves.get(uid)?.filter((one) => !leaves.includes(one)) ?? [];
      if (others.length > 0) this.#leaves.set(uid, others);
      else this.#leaves.delete(uid);
    }
  }

  departuresOf(uid: string): readonly DepartedCronJob[] {
    const own = this.findCronJob(uid);
    if (own === undefined || this.#departed.size === 0) return [];
    return [...this.#departed.values()].filter(
      ({ cronJob: { uid: other, namespace, name } }) =>
        name === own.name && namespace === own.namespace && !this.#from.cronJobs.find(other),
    );
  }

  monitorDeparted(monitor: MonitorSeen, at: Instant): void {
    this.#departedMonitors.set(refText(monitor), { monitor, at });
  }

  departedAt(isIt: (monitor: MonitorSeen) => boolean): Instant | undefined {
    return this.#departedMonitors.values().find(({ monitor }) => isIt(monitor))?.at;
  }

  forgetDeparted(before: Instant, isNeeded: (uid: string) => boolean): void {
    for (const [key, { at }] of this.#departedMonitors) if (at < before) this.#departedMonitors.delete(key);
    for (const [uid, { at }] of this.#departed) if (at < before && !isNeeded(uid)) this.#departed.delete(uid);
    for (const [uid, leaves] of this.#leaves) if (leaves.every(({ at }) => at < before)) this.#leaves.delete(uid);
  }

  #knownNamespaces(): ReadonlyMap<string, NamespaceFacts> {
    return (this.#namespaces ??= new Map(
      [...this.#from.namespaces.values()].map((namespace) => [namespace.name, namespace]),
    ));
  }

  /** The monitors that look into a namespace: few, where there are many in all. */
  #lookingInto(namespace: string): MonitorSeen[] {
    let monitors = this.#byNamespace.get(namespace);
    if (!monitors) {
      monitors = [...this.#from.monitors.values()]
        .filter((monitor) => monitor.decoded.ok && this.reachOf(monitor).namespaces.has(namespace))
        .sort(leadingFirst(namespace));
      this.#byNamespace.set(namespace, monitors);
    }
    return monitors;
  }

  #isAnnotated({ namespace, annotations }: NamedCronJob): boolean {
    return annotations !== undefined || this.#knownNamespaces().get(namespace)?.annotations !== undefined;
  }

  #takersOf(cronJob: CronJobFacts): MonitorSeen[] {
    return this.#lookingInto(cronJob.namespace).filter((monitor) =>
      selectsCronJob(selectingOf(monitor), this.reachOf(monitor).namespaces, cronJob),
    );
  }

  #hasDepartedMonitor(uid: string): boolean {
    if (this.#departedMonitors.size === 0) return false;
    const cronJob = this.findCronJob(uid);
    if (!cronJob) return false;
    return this.#departedMonitors.values().some(({ monitor }) => {
      const { namespaces: reached } = this.reachOf(monitor);
      return monitor.decoded.ok && selectsCronJob(selectingOf(monitor), reached, cronJob);
    });
  }
}

/** As they speak for themselves with these words about how runs are judged instead of their own. */
function saying(own: OwnSettings, { cronJob, ofNamespace }: JudgingWords): OwnSettings {
  const said = (of: Said, words: Annotations): Said => {
    const others = Object.entries(of.annotations).filter(
      ([word]) => !(judgingWords as readonly string[]).includes(word),
    );
    return { ...of, annotations: { ...Object.fromEntries(others), ...words } };
  };
  return {
    ...own,
    cronJob: said(own.cronJob, cronJob),
    ofNamespace: said(own.ofNamespace ?? { labels: {}, annotations: {} }, ofNamespace),
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

/** Of leaves of one CronJob in their order the first from each monitor. */
function firstOfEach(leaves: readonly DepartedCronJob[]): DepartedCronJob[] {
  return [...new Map(leaves.toReversed().map((one) => [one.monitor?.uid, one])).values()];
}

function toDeparted(
  of: Omit<DepartedCronJob, 'lastEndedAt' | 'firstEndedAt' | 'goneJobs' | 'isJudged' | 'isWritten'>,
): DepartedCronJob {
  return { ...of, lastEndedAt: -Infinity, firstEndedAt: Infinity, goneJobs: [], isJudged: false, isWritten: false };
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

/** Whether a window of one of the CronJob's monitors leaves runs that are due then out of the SLA. */
export function isExcluded(selection: Selection, cronJobUid: string, at: Instant): boolean {
  return selection.monitorsOfUid(cronJobUid).some(({ decoded }) => {
    if (!decoded.ok) return false;
    const windows = windowsOf(decoded.spec).filter(({ excludeFromSla }) => excludeFromSla);
    return windowAt(windows, at) !== undefined;
  });
}
