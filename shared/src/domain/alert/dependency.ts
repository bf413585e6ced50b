import type { Ref } from '../../contract/index.ts';
import { undoneWorkTypes, type AlertSubject, type AlertType, type Severity } from '../../contract/vocabulary.ts';
import { refText } from '../../contract/wording.ts';
import type { Instant } from '../instant.ts';
import { dayMs } from '../duration.ts';
import type { MessageHold } from './holds.ts';

/** So many CronJobs may one wait for: in a monitor, and in an annotation. */
export const mostDependencies = 20;
/** How far a failure is looked for: parents, their parents, and so on. */
const mostSteps = 5;
const longestWaitMs = dayMs;
const cronJobName = /^(?:[-a-z0-9]+\/)?[-a-z0-9.]+$/;

/** `name` is in the namespace `own`, `namespace/name` is anywhere. */
export function toNamedRef(text: string, own: string): Ref {
  const slash = text.indexOf('/');
  return slash < 0 ? { namespace: own, name: text } : { namespace: text.slice(0, slash), name: text.slice(slash + 1) };
}

/** The names in an annotation, parted by commas or space: those that can be names, each once and at most 20, and the others. */
export function readDependsOn(text: string | undefined): {
  readonly names: readonly string[];
  readonly refused: readonly string[];
} {
  const words = [...new Set((text ?? '').split(/[\s,]+/).filter((word) => word !== ''))];
  const names = words.filter((word) => cronJobName.test(word));
  return {
    names: names.slice(0, mostDependencies),
    refused: [...words.filter((word) => !cronJobName.test(word)), ...names.slice(mostDependencies)],
  };
}

/** What each CronJob waits for, both as `namespace/name`; one without an entry waits for none. */
export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** A monitor as far as it says what a CronJob that it selects waits for. */
interface DependencyRules {
  readonly namespace: string;
  readonly dependsOn: readonly string[];
  readonly mayLookInto: (namespace: string) => boolean;
}

/**
 * The CronJobs that one waits for, as `namespace/name` in order: by its annotation and by its monitors, each as far as a monitor of it may
 * look. That a monitor lets what it selects wait for one of them says nothing of that one itself.
 */
export function parentsOf(
  { namespace, name, notes }: Ref & { readonly notes: { readonly dependsOn?: string } },
  monitors: readonly DependencyRules[],
): string[] {
  const declared = readDependsOn(notes.dependsOn).names.map((text) => toNamedRef(text, namespace));
  const found = monitors.flatMap((monitor) => {
    const named = monitor.dependsOn.map((text) => toNamedRef(text, monitor.namespace));
    return [...declared, ...named].filter((parent) => monitor.mayLookInto(parent.namespace)).map(refText);
  });
  return [...new Set(found)].filter((parent) => parent !== refText({ namespace, name })).sort();
}

/** The way from a CronJob back to itself that leads over `parent`; undefined: there is none, and the edge counts. */
export function cycleThrough(dependencies: Dependencies, child: string, parent: string): string[] | undefined {
  const cameFrom = new Map<string, string | undefined>([[parent, undefined]]);
  for (const name of cameFrom.keys()) {
    if (name === child) {
      const way: string[] = [];
      for (let at: string | undefined = child; at !== undefined; at = cameFrom.get(at)) way.unshift(at);
      return [child, ...way];
    }
    for (const next of dependencies.get(name) ?? []) if (!cameFrom.has(next)) cameFrom.set(next, name);
  }
  return undefined;
}

/** Whom a CronJob waits for, up to five steps away, the nearest first. An edge on a cycle does nothing. */
export function ancestorsOf(dependencies: Dependencies, child: string): string[] {
  const found = new Set<string>();
  let level = [child];
  for (let step = 0; step < mostSteps && level.length > 0; step++) {
    const next = level.flatMap((name) =>
      (dependencies.get(name) ?? []).filter(
        (parent) => !found.has(parent) && cycleThrough(dependencies, name, parent) === undefined,
      ),
    );
    level = [...new Set(next)];
    for (const parent of level) found.add(parent);
  }
  return [...found];
}

/** An active alert of a CronJob that another waits for. */
export interface ParentAlert {
  readonly id: string;
  readonly type: AlertType;
  readonly severity: Severity;
  /** A message about it was accepted; undefined: none was. */
  readonly toldAt: Instant | undefined;
}

/** Whether an alert may follow from one of a parent; that a CronJob is suspended or gone was done to it itself. */
function mayFollow({ type, subject }: DependentAlert): boolean {
  return type !== 'jobSuspended' && subject !== 'disappeared';
}

interface DependentAlert {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly severity: Severity;
}

/** The first of the alerts that holds messages about this one back: it was told, and is as bad or worse. */
export function holdingParent(alert: DependentAlert, parents: readonly ParentAlert[]): ParentAlert | undefined {
  if (!mayFollow(alert)) return undefined;
  return parents.find(
    ({ type, severity, toldAt }) =>
      toldAt !== undefined &&
      undoneWorkTypes.includes(type) &&
      (severity === 'critical' || alert.severity === 'warning'),
  );
}

/** How its message was held back for a parent before, since the alert became active. */
export interface HeldForParents {
  readonly sinceAt: Instant;
  /** The end of the alert that held it last; undefined: it is not over. */
  readonly releasedAt: Instant | undefined;
  /** Set once no parent held it any more: until when it is left to its next run. */
  readonly untilAt: Instant | undefined;
}

export interface DependencyFacts {
  readonly parents: readonly ParentAlert[];
  readonly held: HeldForParents | undefined;
  /** How long an alert may last when no parent holds it any more: 2 x the grace of the monitor. */
  readonly recoveryMs: number;
  /** When the last run of its CronJob that has ended was made. */
  readonly ranAt: Instant | undefined;
}

/**
 * What a parent does to the message of an alert now; undefined: nothing. While one holds it, it waits for 24 h at most. After that it is
 * left alone until the next run of its CronJob, or for `recoveryMs`, for it may end by itself.
 */
export function dependencyHold(alert: DependentAlert, facts: DependencyFacts, now: Instant): MessageHold | undefined {
  const { held, recoveryMs, ranAt } = facts;
  if (held !== undefined && now >= held.sinceAt + longestWaitMs) return undefined;
  const parent = holdingParent(alert, facts.parents);
  if (parent) return { reason: 'dependsOn', untilAt: undefined, ref: parent.id };
  if (held === undefined) return undefined;
  const { releasedAt = now, untilAt = releasedAt + recoveryMs } = held;
  const hasRun = ranAt !== undefined && ranAt > (held.releasedAt ?? untilAt - recoveryMs);
  return hasRun || now >= untilAt ? undefined : { reason: 'dependsOn', untilAt, ref: undefined };
}
