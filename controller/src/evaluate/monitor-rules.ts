import { alertRulesOf, detectionRulesOf, type MonitorSpec } from '@cronjob-monitor/shared/kube';
import type { MonitorRules } from './subject.ts';

/** Specs are decoded once for each generation, so their rules are made once for each of them and zone. */
const known = new WeakMap<MonitorSpec, Map<string, MonitorRules>>();

/** What a monitor asks about a CronJob. `cronJobZone`: of a finishBy that names no zone. */
export function rulesOf(spec: MonitorSpec, cronJobZone: string): MonitorRules {
  let byZone = known.get(spec);
  if (!byZone) known.set(spec, (byZone = new Map()));
  let rules = byZone.get(cronJobZone);
  if (!rules) {
    rules = {
      detection: detectionRulesOf(spec, cronJobZone),
      alerts: alertRulesOf(spec),
      includeContext: spec.alerting?.includeContext,
    };
    byZone.set(cronJobZone, rules);
  }
  return rules;
}
