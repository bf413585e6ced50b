import type { ScheduleProblem } from '@cronjob-monitor/shared/contract';

interface Scheduled {
  readonly schedule: string;
  readonly timezone: string | null;
  readonly scheduleProblem: ScheduleProblem | null;
}

/** Why no expected runs are known: the end of "Not evaluated: …". */
export function whyNotJudged({ schedule, timezone, scheduleProblem }: Scheduled): string {
  switch (scheduleProblem) {
    case 'unknownZone':
      return `unknown zone "${timezone ?? zoneInside(schedule) ?? ''}"`;
    case 'zoneMismatch':
      return 'the cluster reads its schedule in another zone than cluster.default-time-zone says';
    case 'neverRuns':
      return impossibleDate(schedule) ?? `no date matches "${schedule}"`;
    default:
      return `the schedule "${schedule}" cannot be read`;
  }
}

/** `30 February does not come`, where a schedule asks for one such date; undefined for other reasons never to run. */
export function impossibleDate(schedule: string): string | undefined {
  const [day, month] = schedule
    .replace(/^(CRON_)?TZ=\S+\s+/, '')
    .split(/\s+/)
    .slice(2, 4);
  const days = Number(day);
  const index = /^\d+$/.test(month ?? '') ? Number(month) - 1 : shortMonths.indexOf((month ?? '').toUpperCase());
  const name = months[index];
  if (!Number.isInteger(days) || !name || days <= (longest[index] ?? 31)) return undefined;
  return `${days} ${name} does not come`;
}

function zoneInside(schedule: string): string | undefined {
  return /^(?:CRON_)?TZ=(\S+)/.exec(schedule)?.[1];
}

const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const months = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const shortMonths = months.map((name) => name.slice(0, 3).toUpperCase());
