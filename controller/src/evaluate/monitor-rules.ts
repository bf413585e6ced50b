import { parseResourceDuration, type Effective, type AlertRules } from '@cronjob-monitor/shared/domain';
import { alertRulesOf, detectionRulesOf, groupRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import type { MonitorRules } from './subject.ts';
import { listJudgedCronJobs, type Store, type GatheredAlert } from '@cronjob-monitor/shared/store';
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
