import { alertTypes, type AlertType } from '../../contract/index.ts';
import {
  annotationProblemsOf,
  parseResourceDuration,
  raisedTypes,
  type AlertRules,
  type Effective,
  type Instant,
  type OwnOfLinted,
  type OwnSettings,
  type RouteRules,
} from '../../domain/index.ts';
import type { MonitorSpec } from './monitor-spec.ts';

/** What a monitor wants done with what it finds about a CronJob: durations in milliseconds, 0 where there is none. */
export function alertRulesOf({ spec, severityOverrides, routing, mutedUntilAt }: Effective<MonitorSpec>): AlertRules {
  const { alerting } = spec;
  return {
    severityOverrides,
    mutedUntilAt,
    alertDelayMs: msOf(alerting?.alertDelay),
    suppressDuplicatesForMs: msOf(alerting?.suppressDuplicatesFor),
    remindEveryMs: msOf(alerting?.remindEvery),
    renotifyOnChangedError: alerting?.renotifyOnChangedError ?? false,
    alerting: alerting && {
      enabled: alerting.enabled,
      ...routing,
      channelRefs: alerting.channelRefs.map(({ after, ...ref }) => ({ ...ref, afterMs: msOf(after) })),
    },
    windows: windowsOf(spec),
    recoveryMs: 2 * msOf(spec.missedSchedule.grace),
  };
}

export function windowsOf({ maintenanceWindows }: Pick<MonitorSpec, 'maintenanceWindows'>): AlertRules['windows'] {
  return maintenanceWindows.map(({ duration, timezone, ...window }) => ({
    ...window,
    durationMs: msOf(duration),
    timeZone: timezone,
  }));
}

/** What a monitor says of who is told of what about a CronJob. */
export function routeRulesOf(effective: Effective<MonitorSpec>): RouteRules {
  const { spec } = effective;
  const { jobFailed, missedSchedule, deadManSwitch, expects } = spec;
  return {
    ...alertRulesOf(effective),
    severitySourceOf: effective.severitySourceOf,
    looksFor: raisedTypes(spec),
    looksForInGroups: looksForInGroups(spec),
    jobFailed,
    missedSchedule,
    pausesSuspended: spec.suspendedHandling.pauseMonitoring,
    fromCreation: deadManSwitch?.enabled === true && deadManSwitch.fromCreation,
    expects,
  };
}

/** What the lint looks at where an owner speaks, or a monitor tells of CronJobs by what they are. */
export function ownOfLinted(effective: Effective<MonitorSpec>, own: OwnSettings, now: Instant): OwnOfLinted {
  return {
    monitor: effective.spec,
    routing: alertRulesOf(effective).alerting,
    severityOverrides: effective.severityOverrides,
    problems: annotationProblemsOf(own, now).map(({ source, object, message }) =>
      source === 'CronJob' ? message : `${message} (Namespace ${object})`,
    ),
  };
}

/** What has no slots is judged by how its Jobs end and how long they take. */
function looksForInGroups({ sla, jobFailed, stuckJobs }: MonitorSpec): AlertType[] {
  const raised: Readonly<Partial<Record<AlertType, boolean>>> = {
    jobFailed: jobFailed.enabled,
    slaBreached: sla?.enabled === true && (sla.maxDuration !== undefined || sla.minDuration !== undefined),
    durationRegression: sla?.enabled === true && sla.durationRegressionThreshold > 0,
    jobStuck: stuckJobs.enabled,
  };
  return alertTypes.filter((type) => raised[type]);
}

function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : (parseResourceDuration(duration) ?? 0);
}
