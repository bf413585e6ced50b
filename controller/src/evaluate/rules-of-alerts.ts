import type { AlertRules } from '@cronjob-monitor/shared/domain';
import { listJudgedCronJobs, type Store, type GatheredAlert } from '@cronjob-monitor/shared/store';
import type { MonitorSeen, Selection } from '../selection/index.ts';
import { rulesOf } from './monitor-rules.ts';

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
