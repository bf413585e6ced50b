import {
  instantOfWrite,
  labelledSince,
  type Changed,
  type CronJobFacts,
  type Instant,
  type NamespaceFacts,
  type NewsOfChange,
} from '@cronjob-monitor/shared/domain';
import {
  consentAnnotation,
  ignoreAnnotation,
  reachOf,
  selectsCronJob,
  type MonitorSpec,
  type ReachRules,
} from '@cronjob-monitor/shared/kube';
import { isSelectorUnderstood, type MonitorSeen } from './monitor-seen.ts';
import type { Selection } from './selection.ts';

interface SelectionStartsDeps {
  readonly selection: Pick<Selection, 'monitorsOf'>;
  /** Told of selections that end. */
  readonly left?: Selection['left'];
  readonly monitors: { values(): Iterable<MonitorSeen> };
  readonly namespaces: { values(): Iterable<NamespaceFacts> };
  readonly cronJobs: { values(): Iterable<CronJobFacts> };
  readonly rules: ReachRules;
}

/**
 * Remembers since when monitors select CronJobs that they did not select before, and tells when a selection ends. An edit of labels, of a
 * selector, of a namespace's consent or of what owners leave out begins or ends one. Followers remember it too, since they may have to write it.
 * A CronJob that was selected from its creation on, or found selected by a list, has no entry.
 */
export class SelectionStarts {
  readonly #from: SelectionStartsDeps;
  /** By the UID of the monitor, then of the CronJob. */
  readonly #since = new Map<string, Map<string, Instant>>();

  constructor(from: SelectionStartsDeps) {
    this.#from = from;
  }

  /** Undefined: no edit began it. */
  sinceOf(monitorUid: string, cronJobUid: string): Instant | undefined {
    return this.#since.get(monitorUid)?.get(cronJobUid);
  }

  cronJobChanged({ before, item }: Changed<CronJobFacts>, news: NewsOfChange): void {
    const keys = new Set([...Object.keys(before.labels), ...Object.keys(item.labels)]);
    const changed = [...keys].filter((key) => before.labels[key] !== item.labels[key]);
    if (before.annotations?.ignore !== item.annotations?.ignore) changed.push(ignoreAnnotation);
    if (changed.length === 0) return;
    const { selection } = this.#from;
    const left = new Set(selection.monitorsOf(before).map(({ uid }) => uid));
    const writes = { before: before.labelWrites ?? [], after: item.labelWrites ?? [] };
    const at = instantOfWrite(changed, writes, news);
    const present = new Set(selection.monitorsOf(item).map(({ uid }) => uid));
    for (const uid of present) if (!left.has(uid)) this.#begins(uid, item.uid, at);
    for (const monitor of selection.monitorsOf(before)) if (!present.has(monitor.uid)) this.#ends(monitor, before, at);
  }

  monitorChanged({ before, item }: Changed<MonitorSeen>, news: NewsOfChange): void {
    // An unreadable monitor selects nothing, and stops no watch.
    if (!before.decoded.ok || !item.decoded.ok) return;
    if (!isSelectorUnderstood(before) || !isSelectorUnderstood(item)) return;
    const specs = [before.decoded.spec, item.decoded.spec] as const;
    const [earlier, later] = specs.map((spec) => JSON.stringify([spec.selector, spec.jobs, mayBeIgnored(spec)]));
    if (earlier === later) return;
    const writes = { before: before.selectorWrites, after: item.selectorWrites };
    const at = instantOfWrite(['selector', 'jobs'], writes, news);
    const namespaces = this.#namespaces();
    const [was, is] = specs.map((spec) => {
      const reach = reachOf(item.namespace, spec.selector, namespaces, this.#from.rules);
      return (cronJob: CronJobFacts): boolean =>
        selectsCronJob(spec, reach.namespaces, cronJob) && !isIgnored(spec, cronJob, namespaces.get(cronJob.namespace));
    });
    for (const cronJob of this.#from.cronJobs.values()) {
      const [selected, selects] = [was?.(cronJob) === true, is?.(cronJob) === true];
      if (selects && !selected && this.#isFor(item, cronJob)) this.#begins(item.uid, cronJob.uid, at);
      if (selected && !selects) this.#ends(before, cronJob, at);
      if (selected !== selects || specs[0].selector?.fallback !== specs[1].selector?.fallback)
        this.#fallsBack(cronJob, at);
    }
  }

  namespaceChanged({ before, item }: Changed<NamespaceFacts>, news: NewsOfChange): void {
    const labels = new Set([...Object.keys(before.labels), ...Object.keys(item.labels)]);
    const changed = [...labels].filter((key) => before.labels[key] !== item.labels[key]);
    if (before.monitoredFrom.join() !== item.monitoredFrom.join()) changed.push(consentAnnotation);
    if (before.annotations?.ignore !== item.annotations?.ignore) changed.push(ignoreAnnotation);
    if (changed.length === 0) return;
    const writes = { before: before.reachWrites ?? [], after: item.reachWrites ?? [] };
    const at = instantOfWrite(changed, writes, news);
    const earlier = this.#namespaces().set(before.name, before);
    const later = this.#namespaces();
    const cronJobs = [...this.#from.cronJobs.values()].filter(({ namespace }) => namespace === item.name);
    for (const monitor of this.#from.monitors.values()) {
      if (!monitor.decoded.ok) continue;
      const { spec } = monitor.decoded;
      const { selector } = spec;
      const wasReached = reachOf(monitor.namespace, selector, earlier, this.#from.rules).namespaces.has(item.name);
      const reach = reachOf(monitor.namespace, selector, later, this.#from.rules);
      if (!wasReached && !reach.namespaces.has(item.name)) continue;
      for (const cronJob of cronJobs) {
        const was = wasReached && !isIgnored(spec, cronJob, before);
        const is = selectsCronJob(spec, reach.namespaces, cronJob) && !isIgnored(spec, cronJob, item);
        if (is && !was && this.#isFor(monitor, cronJob)) this.#begins(monitor.uid, cronJob.uid, at);
        if (was && !is && selectsCronJob(spec, new Set([item.name]), cronJob)) this.#ends(monitor, cronJob, at);
      }
    }
    for (const cronJob of cronJobs) this.#fallsBack(cronJob, at);
  }

  monitorGone(monitor: MonitorSeen, { receivedAt, unwatchedSinceAt }: NewsOfChange): void {
    for (const cronJob of this.#from.left ? this.#from.cronJobs.values() : [])
      if (this.#selects(monitor, cronJob)) this.#ends(monitor, cronJob, unwatchedSinceAt ?? receivedAt);
    this.#since.delete(monitor.uid);
    if (!isFallback(monitor)) for (const cronJob of this.#from.cronJobs.values()) this.#fallsBack(cronJob, receivedAt);
  }

  cronJobGone(uid: string): void {
    for (const ofMonitor of this.#since.values()) ofMonitor.delete(uid);
  }

  /** A monitor with `fallback` begins where the last one without has left; those that watched before go on. */
  #fallsBack(cronJob: CronJobFacts, at: Instant): void {
    const fallbacks = [...this.#from.monitors.values()].filter(isFallback);
    if (fallbacks.length === 0) return;
    const before = new Set(this.#from.selection.monitorsOf(cronJob).map(({ uid }) => uid));
    for (const monitor of fallbacks)
      if (!before.has(monitor.uid) && this.#selects(monitor, cronJob) && this.#isFor(monitor, cronJob))
        this.#begins(monitor.uid, cronJob.uid, at);
  }

  /** Whether no other monitor keeps it from the CronJob, as the monitors are now. */
  #isFor(monitor: MonitorSeen, cronJob: CronJobFacts): boolean {
    if (!isFallback(monitor)) return true;
    return ![...this.#from.monitors.values()].some((other) => !isFallback(other) && this.#selects(other, cronJob));
  }

  #selects({ namespace, decoded }: MonitorSeen, cronJob: CronJobFacts): boolean {
    if (!decoded.ok) return false;
    const { spec } = decoded;
    const { namespaces } = reachOf(namespace, spec.selector, this.#namespaces(), this.#from.rules);
    return selectsCronJob(spec, namespaces, cronJob);
  }

  #begins(monitorUid: string, cronJobUid: string, at: Instant): void {
    const ofMonitor = this.#since.get(monitorUid) ?? new Map<string, Instant>();
    this.#since.set(monitorUid, ofMonitor.set(cronJobUid, at));
  }

  #ends(monitor: MonitorSeen, cronJob: CronJobFacts, at: Instant): void {
    this.#from.left?.({ monitor, cronJob, at, selectedSinceAt: this.sinceOf(monitor.uid, cronJob.uid) });
  }

  #namespaces(): Map<string, NamespaceFacts> {
    return new Map([...this.#from.namespaces.values()].map((namespace) => [namespace.name, namespace]));
  }
}

function mayBeIgnored({ allowOverrides }: MonitorSpec): boolean {
  return allowOverrides.includes('ignore');
}

/** Whether the CronJob or its namespace asks the monitor to leave it out. */
function isIgnored(spec: MonitorSpec, cronJob: CronJobFacts, namespace: NamespaceFacts | undefined): boolean {
  const says = [cronJob.annotations, namespace?.annotations].some((own) => own?.ignore?.trim() === 'true');
  return says && mayBeIgnored(spec);
}

function isFallback({ decoded }: MonitorSeen): boolean {
  return decoded.ok && decoded.spec.selector?.fallback === true;
}

/**
 * Since when a monitor selects a CronJob that it did not select when a leader last looked: where both were there then, when something that
 * decides about it was written in the gap, else where the gap begins. Of a CronJob that is younger than the gap, when it got the labels that
 * the monitor asks for, and its namespace agreed to a monitor of another one. Undefined: nothing tells that it was not selected from its creation on.
 */
export function selectedInGap(
  monitor: Pick<MonitorSeen, 'namespace' | 'createdAt' | 'selectorWrites' | 'decoded'>,
  cronJob: Pick<CronJobFacts, 'namespace' | 'createdAt' | 'labelWrites'>,
  namespace: Pick<NamespaceFacts, 'reachWrites' | 'createdAt'> | undefined,
  gapFromAt: Instant,
): Instant | undefined {
  if (cronJob.createdAt >= gapFromAt) {
    const consents = monitor.namespace === cronJob.namespace ? [] : (namespace?.reachWrites ?? []);
    const instants = [
      labelledSince(labelsOf(monitor), cronJob.labelWrites ?? [], cronJob.createdAt),
      labelledSince([consentAnnotation], consents, namespace?.createdAt ?? Infinity),
    ].filter((at) => at !== undefined);
    return instants.length === 0 ? undefined : Math.max(...instants);
  }
  if (monitor.createdAt >= gapFromAt) return undefined;
  const writes = [...monitor.selectorWrites, ...(cronJob.labelWrites ?? []), ...(namespace?.reachWrites ?? [])];
  const within = writes.filter(({ at }) => at >= gapFromAt).map(({ at }) => at);
  return within.length === 0 ? gapFromAt : Math.min(...within);
}

/** Labels that a CronJob must have to be selected. */
function labelsOf({ decoded }: Pick<MonitorSeen, 'decoded'>): string[] {
  const selector = decoded.ok ? decoded.spec.selector : undefined;
  const must = selector?.matchExpressions.filter(({ operator }) => operator === 'In' || operator === 'Exists') ?? [];
  return [...Object.keys(selector?.matchLabels ?? {}), ...must.map(({ key }) => key)];
}
