import type { CronJobFacts, JobMarks, NamespaceFacts } from '../../domain/index.ts';
import { matchesLabels } from '../selector.ts';
import type { JobsSpec, MonitorSelector, MonitorSpec } from './monitor-spec.ts';

/** Where the configuration lets monitors look: `ignored-namespaces`, `cluster.watch-namespaces`, `monitors.cross-namespace-from`. */
export interface ReachRules {
  readonly ignoredNamespaces: readonly string[];
  /** Empty: all. */
  readonly watchNamespaces: readonly string[];
  /** Namespaces whose monitors may select in others; `*`: any. */
  readonly crossNamespaceFrom: readonly string[];
}

export type RefusalReason = 'NamespaceNotAuthorized' | 'NamespaceIgnored' | 'NamespaceNotFound';

/** A namespace that was asked for and is left out. */
interface Refusal {
  readonly namespace: string;
  readonly reason: RefusalReason;
}

/** The namespaces that a monitor reaches now. */
export interface Reach {
  readonly namespaces: ReadonlySet<string>;
  /** Left out although the monitor asks for them by name or by label: condition SelectorAuthorized is False. */
  readonly refused: readonly Refusal[];
  /** Left out of what was asked for in general, as `allNamespaces` does: told, no fault. */
  readonly passedOver: readonly string[];
}

/**
 * Which namespaces the selector of a monitor in `own` reaches. One other than its own is reached only if the configuration lets
 * `own` look elsewhere, or the namespace itself has agreed by its annotation. Ignored ones never are, and nothing beyond the
 * watched ones. resources.md section 3.
 */
export function reachOf(
  own: string,
  selector: MonitorSelector | undefined,
  known: ReadonlyMap<string, NamespaceFacts>,
  rules: ReachRules,
): Reach {
  const { names, general } = askedFor(own, selector, known);
  const namespaces = new Set<string>();
  const refused: Refusal[] = [];
  const passedOver: string[] = [];
  for (const name of names) {
    const reason = refusalOf(name, own, known, rules);
    if (reason === undefined) namespaces.add(name);
    else if (general || (selector?.namespaceSelector !== undefined && reason === 'NamespaceIgnored'))
      passedOver.push(name);
    else refused.push({ namespace: name, reason });
  }
  return { namespaces, refused, passedOver };
}

function askedFor(
  own: string,
  selector: MonitorSelector | undefined,
  known: ReadonlyMap<string, NamespaceFacts>,
): { names: readonly string[]; general: boolean } {
  if (selector?.unusable) return { names: [], general: false };
  if (selector?.allNamespaces) return { names: [...known.keys()].sort(), general: true };
  const byLabel = selector?.namespaceSelector;
  if (byLabel !== undefined) {
    const fitting = [...known.values()].filter(({ labels }) => matchesLabels(byLabel, labels));
    return { names: fitting.map(({ name }) => name).sort(), general: false };
  }
  const named = selector?.namespaces ?? [];
  return { names: named.length > 0 ? named : [own], general: false };
}

/** Why a monitor in `own` may not look into the namespace of this name; undefined: it may. */
export function refusalOf(
  name: string,
  own: string,
  known: ReadonlyMap<string, NamespaceFacts>,
  rules: ReachRules,
): RefusalReason | undefined {
  if (!mayBeWatched(name, rules)) return 'NamespaceIgnored';
  // A monitor's own namespace exists, also where the service may not list namespaces.
  if (name === own) return undefined;
  const facts = known.get(name);
  if (facts === undefined) return 'NamespaceNotFound';
  const mayLookElsewhere = rules.crossNamespaceFrom.some((from) => from === '*' || from === own);
  const hasAgreed = facts.monitoredFrom.some((from) => from === '*' || from === own);
  return mayLookElsewhere || hasAgreed ? undefined : 'NamespaceNotAuthorized';
}

/** Whether the configuration lets any monitor look into the namespace. */
export function mayBeWatched(
  name: string,
  { ignoredNamespaces, watchNamespaces }: Pick<ReachRules, 'ignoredNamespaces' | 'watchNamespaces'>,
): boolean {
  return !ignoredNamespaces.includes(name) && (watchNamespaces.length === 0 || watchNamespaces.includes(name));
}

/** What of a spec says which CronJobs, and which Jobs without one, are watched. */
export type Selecting = Partial<Pick<MonitorSpec, 'selector' | 'jobs'>>;

/**
 * Whether a monitor that reaches these namespaces watches this CronJob, or this group of Jobs; one with `fallback` leaves it to any
 * without. Labels and names of the selector are those of CronJobs.
 */
export function selectsCronJob(
  { selector, jobs }: Selecting,
  reached: ReadonlySet<string>,
  cronJob: Pick<CronJobFacts, 'namespace' | 'name' | 'labels' | 'marks'>,
): boolean {
  if (!reached.has(cronJob.namespace) || selector?.unusable) return false;
  if (cronJob.marks) return jobs !== undefined && selectsJob(jobs, cronJob.marks);
  if (jobs?.only) return false;
  if (selector === undefined) return true;
  if (selector.matchNames.length > 0 && !selector.matchNames.includes(cronJob.name)) return false;
  return matchesLabels(selector, cronJob.labels);
}

function selectsJob(jobs: JobsSpec, { labels, annotations, ownerKind }: JobMarks): boolean {
  if (jobs.unusable) return false;
  const { ownerKinds, hasAnnotations } = jobs;
  if (ownerKinds.length > 0 && (ownerKind === undefined || !ownerKinds.includes(ownerKind))) return false;
  return hasAnnotations.every((key) => annotations.includes(key)) && matchesLabels(jobs, labels);
}

/** Of all monitors that select one CronJob those that watch it: with `fallback` only where there is none without. */
export function withoutNeedlessFallbacks<M>(
  monitors: readonly M[],
  selectorOf: (monitor: M) => MonitorSelector | undefined,
): readonly M[] {
  const own = monitors.filter((monitor) => selectorOf(monitor)?.fallback !== true);
  return own.length === 0 ? monitors : own;
}
