import { alertTypes, type AlertType, type Severity } from '@cronjob-monitor/shared/contract';
import { alertSeverity, routesOf } from '@cronjob-monitor/shared/domain';
import type { AlertingSpec, MonitorSpec } from '@cronjob-monitor/shared/kube';

/** One kind of alert of a monitor: how bad it is and which channels hear of it. */
export interface ToldOf {
  readonly type: AlertType;
  readonly severity: Severity;
  readonly channels: readonly string[];
  /** Why nobody is told; undefined when somebody is. */
  readonly nobody: string | undefined;
}

const reasons = {
  alertingDisabled: 'alerting is off in the monitor',
  noChannel: 'the monitor names no channel',
  severityNotRouted: 'no channel takes this severity',
  unknownChannel: 'its channels do not exist',
} as const;

/** The kinds of alerts that a monitor can raise, in the order of the table. */
export function raisedTypes(spec: MonitorSpec): AlertType[] {
  const { sla, deadManSwitch, missedSchedule, jobFailed, stuckJobs, suspendedHandling } = spec;
  const raised: Readonly<Record<AlertType, boolean>> = {
    jobFailed: jobFailed.enabled,
    missedSchedule: missedSchedule.enabled,
    deadManTriggered: deadManSwitch?.enabled === true,
    slaBreached: sla?.enabled === true,
    durationRegression: sla?.enabled === true && sla.durationRegressionThreshold > 0,
    jobSuspended: suspendedHandling.alertIfSuspendedFor !== undefined,
    jobStuck: stuckJobs.enabled,
    absent: deadManSwitch?.enabled === true && deadManSwitch.fromCreation,
  };
  return alertTypes.filter((type) => raised[type]);
}

/** Who hears of an alert of this type; `exists` says which channels there are. */
export function toldOf(
  type: AlertType,
  alerting: AlertingSpec | undefined,
  exists: (channel: string) => boolean = () => true,
): ToldOf {
  const { severity } = alertSeverity(type, alerting?.severityOverrides);
  const routes = routesOf(alerting, severity, exists);
  if ('told' in routes) return { type, severity, channels: routes.told, nobody: undefined };
  const missing = routes.unknown.length > 0 ? `: ${routes.unknown.join(', ')}` : '';
  return { type, severity, channels: [], nobody: `${reasons[routes.notRouted]}${missing}` };
}
