import { parseDuration } from '../../domain/index.ts';
import { parse } from '../../domain/schedule/index.ts';
import { namedList, refine } from './collection.ts';
import { boolean, defaulted, duration, object, required, text, zone, type Field } from './field.ts';
import type { MaintenanceWindowSpec } from './monitor-spec.ts';
import { refuse } from './reading.ts';

const longestMs = 31 * 24 * 3_600_000;

/** When something starts: five fields of a CronJob's schedule that come at all. */
export function start(pattern?: { readonly source: string; readonly says: string }): Field<string> {
  return refine(text(1, 256, pattern), (schedule, path, reading) => {
    const problem = startProblem(schedule);
    return problem === undefined ? schedule : refuse(reading, path, problem, 'InvalidSchedule');
  });
}

/** Why a text is not the five fields of a schedule that comes at all; undefined: it is. */
function startProblem(schedule: string): string | undefined {
  try {
    const parsed = parse(schedule);
    if (parsed.kind === 'every') return 'must be five fields: @every has no time of day';
    if (parsed.zone !== null) return 'must not name a zone: use the field timezone';
    // A cron text has no year: what never comes after one instant never comes.
    return parsed.next(0, 'UTC') === null ? 'never comes' : undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'is no schedule';
  }
}

const span = refine(duration(), (value, path, reading) =>
  (parseDuration(value) ?? 0) <= longestMs ? value : refuse(reading, path, 'must be at most 31d'),
);

const maintenanceWindow = refine(
  object({
    name: required(text(1, 63)),
    schedule: required(start()),
    duration: required(span),
    timezone: defaulted(zone, 'UTC'),
    suppressAlerts: defaulted(boolean, true),
    excludeFromSla: defaulted(boolean, false),
  }),
  (read): MaintenanceWindowSpec | undefined => {
    const { name, schedule, duration, timezone, suppressAlerts, excludeFromSla } = read;
    // A window of which one field cannot be used is none: it then mutes nothing.
    if (name === undefined || schedule === undefined || duration === undefined || timezone === undefined)
      return undefined;
    if (suppressAlerts === undefined || excludeFromSla === undefined) return undefined;
    return { name, schedule, duration, timezone, suppressAlerts, excludeFromSla };
  },
);

export const maintenanceWindows = namedList(maintenanceWindow, 50);
