/** The words of a schedule, such as `At 02:00, only on Monday`. Undefined for what is shown raw. */
type ScheduleWords = (schedule: string) => string | undefined;

let loading: Promise<ScheduleWords> | undefined;

/**
 * Brings the library that knows the words, once: it is needed only where a schedule is explained. Its words are words only; when a CronJob
 * runs next is told by the API.
 */
export function loadScheduleWords(): Promise<ScheduleWords> {
  loading ??= import('cronstrue').then(({ default: cronstrue }) => (schedule) => {
    if (!isPlain(schedule)) return undefined;
    try {
      return cronstrue.toString(schedule.trim(), {
        use24HourTimeFormat: true,
        verbose: false,
        throwExceptionOnParseError: true,
      });
    } catch {
      return undefined; // it refuses, so the schedule stands for itself
    }
  });
  return loading;
}

/**
 * Five fields of what both understand alike: no `@every`, no zone, none of the letters that only the library takes, and no stepped star
 * beside a second restriction of the day, which Kubernetes reads as "and".
 */
export function isPlain(schedule: string): boolean {
  const fields = schedule.trim().split(/\s+/);
  const [, , day = '', , weekday = ''] = fields;
  const isAmbiguous = (a: string, b: string): boolean => a.startsWith('*/') && !/^[*?]$/.test(b);
  return (
    fields.length === 5 &&
    fields.every((field) => /^[\d*/,?-]+$|^[A-Za-z]{3}([,-][A-Za-z]{3})*$/.test(field)) &&
    !isAmbiguous(day, weekday) &&
    !isAmbiguous(weekday, day)
  );
}
