import { alertRulesOf, detectionRulesOf, groupRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import { parseResourceDuration } from '@cronjob-monitor/shared/domain';
import type { MonitorRules } from './subject.ts';

/** Specs are decoded once for each generation, so their rules are made once for each of them, kind and zone. */
const known = new WeakMap<MonitorSpec, Map<string, MonitorRules>>();

/** What a monitor asks about a CronJob. `cronJobZone`: of a finishBy that names no zone. */
export function rulesOf(spec: MonitorSpec, cronJobZone: string): MonitorRules {
  return kept(spec, cronJobZone, () => ({
    detection: detectionRulesOf(spec, cronJobZone),
    alerts: alertRulesOf(spec),
    includeContext: spec.alerting?.includeContext,
  }));
}

/** What a monitor asks about a group of Jobs. */
export function rulesOfGroup(spec: MonitorSpec, zone: string): MonitorRules {
  return kept(spec, `group ${zone}`, () => {
    const rules = rulesOf(spec, zone);
    const forgetAfterMs = (spec.jobs && parseResourceDuration(spec.jobs.forgetAfter)) ?? 0;
    return { ...rules, detection: groupRulesOf(rules.detection), forgetAfterMs };
  });
}

function kept(spec: MonitorSpec, key: string, make: () => MonitorRules): MonitorRules {
  const byKey = known.get(spec) ?? new Map<string, MonitorRules>();
  known.set(spec, byKey);
  const rules = byKey.get(key) ?? make();
  byKey.set(key, rules);
  return rules;
}
