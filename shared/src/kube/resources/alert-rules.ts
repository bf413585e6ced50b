import { parseResourceDuration, type PreviewAlertRules } from '../../domain/index.ts';
import type { MonitorSpec } from './monitor-spec.ts';

/** What a monitor wants done with what it finds: durations in milliseconds, 0 where there is none. */
export function alertRulesOf({ alerting, maintenanceWindows }: MonitorSpec): PreviewAlertRules {
  return {
    severityOverrides: alerting?.severityOverrides,
    alertDelayMs: msOf(alerting?.alertDelay),
    suppressDuplicatesForMs: msOf(alerting?.suppressDuplicatesFor),
    remindEveryMs: msOf(alerting?.remindEvery),
    alerting,
    windows: maintenanceWindows.map(({ duration, timezone, ...window }) => ({
      ...window,
      durationMs: msOf(duration),
      timeZone: timezone,
    })),
  };
}

function msOf(duration: string | undefined): number {
  return duration === undefined ? 0 : (parseResourceDuration(duration) ?? 0);
}
