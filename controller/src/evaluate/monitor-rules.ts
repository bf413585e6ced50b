import {
  parseResourceDuration,
  type AlertRules,
  type EarlierWindows,
  type Effective,
  type Instant,
} from '@cronjob-monitor/shared/domain';
import { alertRulesOf, detectionRulesOf, groupRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import type { MonitorRules, Asked, AskedBefore, EarlierRules, KnownWatcher, Watcher } from './subject.ts';
import { listJudgedCronJobs, type Store, type GatheredAlert, listSpecs, type Tx } from '@cronjob-monitor/shared/store';
import type { MonitorSeen, Selection } from '../selection/index.ts';

type Settings = Effective<MonitorSpec>;

/** Settings are made once for all CronJobs that share them, so their rules are made once for each of them, kind and zone. */
const known = new WeakMap<Settings, Map<string, MonitorRules>>();

/** What a monitor asks about a CronJob. `cronJobZone`: of a finishBy that names no zone. */
export function rulesOf(settings: Settings, cronJobZone: string): MonitorRules {
  return kept(settings, cronJobZone, () => ({
    detection: detectionRulesOf(settings.spec, cronJobZone),
    alerts: alertRulesOf(settings),
    includeContext: settings.spec.alerting?.includeContext,
  }));
}

/** What a monitor asks about a group of Jobs. */
export function rulesOfGroup(settings: Settings, zone: string): MonitorRules {
  return kept(settings, `group ${zone}`, () => {
    const rules = rulesOf(settings, zone);
    const { jobs } = settings.spec;
    const forgetAfterMs = (jobs && parseResourceDuration(jobs.forgetAfter)) ?? 0;
    return { ...rules, detection: groupRulesOf(rules.detection), forgetAfterMs };
  });
}

function kept(settings: Settings, key: string, make: () => MonitorRules): MonitorRules {
  const byKey = known.get(settings) ?? new Map<string, MonitorRules>();
  known.set(settings, byKey);
  const rules = byKey.get(key) ?? make();
  byKey.set(key, rules);
  return rules;
}

/** What the monitors of these alerts ask for now; undefined for one that is gone or cannot be read. */
export async function rulesOfAlerts(
  store: Store,
  alerts: readonly GatheredAlert[],
  monitors: { findByName(namespace: string, name: string): MonitorSeen | undefined },
  selection: Pick<Selection, 'effectiveOf' | 'findNamed'>,
): Promise<(alert: GatheredAlert) => AlertRules | undefined> {
  const cronJobs = await listJudgedCronJobs(store, [...new Set(alerts.map(({ cronJobId }) => cronJobId))]);
  const named = new Map(
    cronJobs.flatMap((cronJob) => cronJob.monitors.map((monitor) => [monitor.id, monitor] as const)),
  );
  return ({ monitorId, namespace, cronJobName }) => {
    const monitor = named.get(monitorId);
    const seen = monitor && monitors.findByName(monitor.namespace, monitor.name);
    const settings = seen && selection.effectiveOf(seen, selection.findNamed(namespace, cronJobName));
    // Whom to tell does not depend on a zone.
    return settings && rulesOf(settings, '').alerts;
  };
}

/** The specs that monitors had before the ones in their rows. Each is read once. */
export class EarlierSpecs {
  /** By the key of the monitor. */
  readonly #kept = new Map<number, { readonly untilAt: Instant; readonly spec: unknown }>();

  /**
   * What these monitors asked before their specs, or words of owners, were changed after `settledThroughAt`: what happened before
   * that instant was judged, and is not asked about again. A change that no row tells of yet counts from when the cluster says that it was
   * written.
   */
  async gather(
    tx: Tx,
    watchers: readonly KnownWatcher[],
    settledThroughAt: Instant,
  ): Promise<(of: KnownWatcher) => AskedBefore> {
    const now = tx.now();
    const isAsked = (of: KnownWatcher): boolean => {
      const at = changedAt(of, now);
      return at !== undefined && at >= settledThroughAt && at > of.known.judgesFromAt;
    };
    const unread = watchers.filter((of) => isAsked(of) && this.#keptOf(of) === undefined);
    const ids = [...new Set(unread.map(({ known }) => known.id))];
    const written = ids.length === 0 ? undefined : await listSpecs(tx, ids);
    for (const { known } of unread)
      if (known.respecifiedAt !== undefined)
        this.#kept.set(known.id, {
          untilAt: known.respecifiedAt,
          spec: written?.get(known.id)?.earlierSpec,
        });
    return (of) => {
      const changes: Change[] = of.earlierWords
        .filter(({ untilAt }) => untilAt >= settledThroughAt && untilAt > of.known.judgesFromAt)
        .map(({ untilAt, words }) => ({ untilAt, asked: { words } }));
      const untilAt = changedAt(of, now);
      const spec = isBehind(of) ? written?.get(of.known.id)?.spec : this.#keptOf(of)?.spec;
      // What ran while it could not be read is judged by what it asks since it was mended: nothing is lost by the mistake.
      if (untilAt !== undefined && isAsked(of) && isUnderstood(spec)) changes.push({ untilAt, asked: { spec } });
      return askedBefore(
        of.watcher,
        changes.toSorted((a, b) => a.untilAt - b.untilAt),
      );
    };
  }

  #keptOf(of: KnownWatcher): { readonly spec: unknown } | undefined {
    const kept = this.#kept.get(of.known.id);
    return kept !== undefined && !isBehind(of) && kept.untilAt === of.known.respecifiedAt ? kept : undefined;
  }
}

/** What was asked until then, where it is not what was asked since. */
interface Change {
  readonly untilAt: Instant;
  readonly asked: Asked;
}

/** From the newest of these changes, the last, back to the oldest; one that changes neither rules nor windows is passed over. */
function askedBefore(watcher: Watcher, changes: readonly Change[]): AskedBefore {
  let asked: Asked = {};
  let { detection, alerts } = watcher.rules;
  const steps: Omit<EarlierRules, 'earlier'>[] = [];
  const windows: EarlierWindows[] = [];
  let silentUntilAt: Instant | undefined;
  for (const { untilAt, asked: then } of changes.toReversed()) {
    asked = { ...asked, ...then };
    const rules = watcher.rulesUnder?.(asked);
    if (rules === undefined) continue;
    if (JSON.stringify(rules.detection) !== JSON.stringify(detection)) steps.push({ rules, untilAt });
    if (JSON.stringify(rules.alerts.windows) !== JSON.stringify(alerts.windows))
      windows.push({ untilAt, windows: rules.alerts.windows });
    if (watcher.rules.alerts.alerting?.enabled && !rules.alerts.alerting?.enabled) silentUntilAt ??= untilAt;
    ({ detection, alerts } = rules);
  }
  return {
    rules: steps.reduceRight<EarlierRules | undefined>((earlier, step) => ({ ...step, earlier }), undefined),
    windows: windows.length > 0 ? windows.toReversed() : undefined,
    silentUntilAt,
  };
}

/** The row of a monitor whose spec cannot be read is empty; a selector that cannot be used is in it, and says so. */
function isUnderstood(spec: unknown): boolean {
  if (typeof spec !== 'object' || spec === null || Object.keys(spec).length === 0) return false;
  const { selector, jobs } = spec as { readonly selector?: Unusable; readonly jobs?: Unusable };
  return selector?.unusable !== true && jobs?.unusable !== true;
}

type Unusable = { readonly unusable?: boolean } | null;

function changedAt(of: KnownWatcher, now: Instant): Instant | undefined {
  return isBehind(of) ? (of.watcher.specWrittenAt ?? now) : of.known.respecifiedAt;
}

/** The row of the monitor is about to be written. */
function isBehind({ known, watcher }: KnownWatcher): boolean {
  return watcher.generation !== undefined && watcher.generation > known.generation;
}
