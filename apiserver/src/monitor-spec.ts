import {
  parseDuration,
  type DeadManRule,
  type FixPattern,
  type MaintenanceWindow,
  isObject,
  type Json,
  blockIn,
  textIn,
} from '@cronjob-monitor/shared/domain';

/** What the API reads of a monitor's spec as applied. Whatever has another form than expected counts as absent. */

/** The longest time without success: Go text, `auto` = from the schedule, undefined = off. */
export function deadManLimitOf(spec: unknown): string | undefined {
  const deadMan = blockIn(spec, 'deadManSwitch');
  if (!deadMan || deadMan['enabled'] === false) return undefined;
  const limit = textIn(deadMan, 'maxTimeSinceLastSuccess');
  if (limit !== undefined) return limit;
  const auto = blockIn(deadMan, 'autoFromSchedule');
  return auto && auto['enabled'] !== false ? 'auto' : undefined;
}

/** The dead-man's switch as its detector takes it; undefined = there is none. */
export function deadManRuleOf(spec: unknown): DeadManRule | undefined {
  const deadMan = blockIn(spec, 'deadManSwitch');
  if (!deadMan) return undefined;
  const auto = blockIn(deadMan, 'autoFromSchedule');
  return {
    enabled: deadMan['enabled'] !== false,
    maxSinceSuccessMs: parseDuration(textIn(deadMan, 'maxTimeSinceLastSuccess') ?? ''),
    auto:
      auto && auto['enabled'] !== false
        ? {
            bufferMs: parseDuration(textIn(auto, 'buffer') ?? '1h') ?? 0,
            missedScheduleThreshold: numberIn(auto, 'missedScheduleThreshold') ?? 1,
          }
        : undefined,
    fromCreation: deadMan['fromCreation'] !== false,
    pauseMonitoring: blockIn(spec, 'suspendedHandling')?.['pauseMonitoring'] !== false,
  };
}

/** `sla.maxDuration`, text; undefined = off. */
export function maxDurationOf(spec: unknown): string | undefined {
  const sla = blockIn(spec, 'sla');
  return sla && sla['enabled'] !== false ? textIn(sla, 'maxDuration') : undefined;
}

/** Whether the monitor says for how long a CronJob may be suspended. */
export function limitsSuspension(spec: unknown): boolean {
  return typeof blockIn(spec, 'suspendedHandling')?.['alertIfSuspendedFor'] === 'string';
}

interface ChannelRefSpec {
  readonly name: string;
  /** As written; empty means all. */
  readonly severities: readonly string[];
  readonly after: string | undefined;
}

/** The channels that a monitor names, in `channelRefs` and in its routes; none while its alerting is off. */
export function channelRefsOf(spec: unknown): readonly ChannelRefSpec[] {
  const alerting = blockIn(spec, 'alerting');
  if (!alerting || alerting['enabled'] === false) return [];
  const named = [...namedInRefs(alerting), ...namedInRoutes(alerting)];
  return [...Map.groupBy(named, ({ name }) => name).values()].flatMap(([first]) => first ?? []);
}

/** Names in which the owner stands are those of no channel yet. */
function namedInRoutes({ routes }: Readonly<Record<string, unknown>>): ChannelRefSpec[] {
  return listIn(routes).flatMap((route) =>
    listIn(isObject(route) ? route['channels'] : undefined).flatMap((name) => {
      if (!isObject(route) || typeof name !== 'string' || name.includes('{{')) return [];
      const severities = listIn(route['severities']).filter((severity) => typeof severity === 'string');
      return [{ name, severities, after: undefined }];
    }),
  );
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function namedInRefs(alerting: Readonly<Record<string, unknown>>): ChannelRefSpec[] {
  return listIn(alerting['channelRefs']).flatMap((ref) => {
    const name = isObject(ref) ? textIn(ref, 'name') : undefined;
    if (name === undefined || !isObject(ref)) return [];
    const named = listIn(ref['severities']).filter((severity) => typeof severity === 'string');
    return [{ name, severities: named, after: textIn(ref, 'after') }];
  });
}

/** Whether it selects only what no monitor without `fallback` selects. */
export function isFallback(spec: unknown): boolean {
  return blockIn(spec, 'selector')?.['fallback'] === true;
}

/** Its patterns of suggested fixes, as the reconciler decoded them. */
export function fixPatternsOf(spec: unknown): readonly FixPattern[] {
  const listed = blockIn(spec, 'alerting')?.['suggestedFixPatterns'];
  return Array.isArray(listed) ? (listed as readonly FixPattern[]) : [];
}

/** The maintenance windows of a monitor; one whose duration cannot be read never covers anything. */
export function maintenanceOf(spec: unknown): readonly MaintenanceWindow[] {
  const windows: readonly unknown[] =
    isObject(spec) && Array.isArray(spec['maintenanceWindows']) ? spec['maintenanceWindows'] : [];
  return windows.filter(isObject).flatMap((window) => {
    const schedule = textIn(window, 'schedule');
    const durationMs = parseDuration(textIn(window, 'duration') ?? '');
    if (schedule === undefined || durationMs === undefined) return [];
    return [
      {
        name: textIn(window, 'name') ?? '',
        schedule,
        durationMs,
        timeZone: textIn(window, 'timezone') ?? 'UTC',
        suppressAlerts: window['suppressAlerts'] !== false,
        excludeFromSla: window['excludeFromSla'] === true,
      },
    ];
  });
}

function numberIn(value: Json, key: string): number | undefined {
  const inner = value[key];
  return typeof inner === 'number' && Number.isFinite(inner) ? inner : undefined;
}
