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

type Settings = Effective<MonitorSpec>;

/** Settings never change; others take their place. So what follows from them alone is made once, and goes with them. */
const alertRules = new WeakMap<Settings, AlertRules>();
const routeRules = new WeakMap<Settings, RouteRules>();

/** What a monitor wants done with what it finds about a CronJob: durations in milliseconds, 0 where there is none. */
export function alertRulesOf(settings: Settings): AlertRules {
  let rules = alertRules.get(settings);
  if (!rules) alertRules.set(settings, (rules = toAlertRules(settings)));
  return rules;
}

/** What a monitor says of who is told of what about a CronJob. */
export function routeRulesOf(settings: Settings): RouteRules {
  let rules = routeRules.get(settings);
  if (!rules) routeRules.set(settings, (rules = toRouteRules(settings)));
  return rules;
}

function toAlertRules({ spec, severityOverrides, routing, mutedUntilAt }: Settings): AlertRules {
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

function toRouteRules(effective: Settings): RouteRules {
  const { spec } = effective;
  const { jobFailed, missedSchedule, deadManSwitch, expects } = spec;
  return {
    ...alertRulesOf(effective),
    severitySourceOf: effective.severitySourceOf,
    looksFor: raisedTypes(spec),
    looksForInGroups: raisedTypes(spec, 'inGroups'),
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

function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : (parseResourceDuration(duration) ?? 0);
}
