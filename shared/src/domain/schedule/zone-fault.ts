import { findNearest } from '../text/nearest.ts';
import { isZoneName, listZoneNames } from './zone-names.ts';

/** What is wrong with the zone that a CronJob names. */
interface ZoneFault {
  readonly code: 'ZoneUnknown' | 'ZoneInSchedule';
  readonly path: 'spec.timeZone' | 'spec.schedule';
  readonly message: string;
  /** The zone that was probably meant, for `spec.timeZone`. */
  readonly mend: string | undefined;
}

const prefix = /^((?:CRON_)?TZ)=(\S*)/;

/** A zone that no clock knows, or one that stands where Kubernetes does not look for it; undefined: there is none, or it is sound. */
export function findZoneFault({
  schedule,
  timeZone,
}: {
  readonly schedule: string;
  readonly timeZone: string | undefined;
}): ZoneFault | undefined {
  const [, word, named] = prefix.exec(schedule) ?? [];
  const zone = named ?? timeZone;
  // A prefix may say Local, which is Go's name for the zone of the controller, or nothing, which is UTC.
  const isKnown = zone === undefined || isZoneName(zone) || (named !== undefined && /^(?:Local)?$/.test(named));
  if (!isKnown) {
    const near = nearestZone(zone);
    const path = named === undefined ? 'spec.timeZone' : 'spec.schedule';
    const message = `"${zone}" is no time zone${near === undefined ? '' : `; did you mean ${near}?`}`;
    return { code: 'ZoneUnknown', path, message, mend: named === undefined ? near : undefined };
  }
  if (named === undefined) return undefined;
  const message = `${word}=${named} in the schedule decides when it runs; Kubernetes refuses it in new CronJobs: use spec.timeZone`;
  return { code: 'ZoneInSchedule', path: 'spec.schedule', message, mend: undefined };
}

function nearestZone(zone: string): string | undefined {
  const names = listZoneNames();
  const lower = zone.toLowerCase();
  return (
    names.find((name) => name.toLowerCase() === lower) ??
    // A city alone.
    names.find((name) => name.toLowerCase().endsWith(`/${lower}`)) ??
    findNearest(zone, names)
  );
}
