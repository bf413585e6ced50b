import { isObject } from '@cronjob-monitor/shared/contract';
import { limitText } from './duration.ts';
import { flag, objects, text } from './monitor-spec.ts';

/** A maintenance window of a monitor: when it begins, and what it does. */
interface MaintenanceLine {
  readonly name: string;
  /** Its begin, in the language of CronJobs. */
  readonly schedule: string;
  readonly says: string;
}

export function maintenanceLines(spec: unknown): MaintenanceLine[] {
  return objects(isObject(spec) ? spec : undefined, 'maintenanceWindows').map((window) => {
    const does = [
      flag(window, 'suppressAlerts', true) ? 'alerts wait' : 'alerts go out',
      flag(window, 'excludeFromSla', false) ? 'runs do not count for SLA' : undefined,
    ].filter(Boolean);
    const zone = text(window, 'timezone') ?? 'UTC';
    return {
      name: text(window, 'name') ?? '?',
      schedule: text(window, 'schedule') ?? '?',
      says: `${zone}, for ${limitText(text(window, 'duration') ?? '?')}: ${does.join('; ')}`,
    };
  });
}
