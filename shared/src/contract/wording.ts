import type { ScheduleProblem, SlotCause } from './vocabulary.ts';
import type { Ref } from './wire.ts';

/** How texts and keys name an object: `namespace/name`. */
export function refText({ namespace, name }: Ref): string {
  return `${namespace}/${name}`;
}

/** A span of time as messages and pages say it: at most two units, and none that is too fine for its length. Cut, never rounded up. */
export function spanInWords(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds));
  const minutes = Math.floor(whole / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 48) return twoUnits(Math.floor(hours / 24), 'd', hours % 24, 'h');
  if (hours >= 24) return `${hours} h`;
  if (hours > 0) return twoUnits(hours, 'h', minutes % 60, 'min');
  if (minutes >= 5) return `${minutes} min`;
  return minutes > 0 ? twoUnits(minutes, 'min', whole % 60, 's') : `${whole} s`;
}

/**
 * Prints the instants of a sentence by `print`. How long something lasts, at `nowMs`, is told in the unit of the limit beside it, `68 h (limit
 * 25 h)`, below five with the next one, `1 d 2 h (limit 1 d)`; without a limit, below one of its unit, or from 100 on, as a span.
 */
export function printInstants(
  sentence: string,
  nowMs: number,
  print: (form: 'ago' | 'in' | 'at', atMs: number) => string,
): string {
  const instant = /\{(age|ago|in|at):([^}]+)\}(?= \(limit \d+ (d|h|min|s)\)|)/g;
  return sentence.replaceAll(instant, (whole, form: 'age' | 'ago' | 'in' | 'at', text: string, limitUnit?: string) => {
    const at = Date.parse(text);
    if (Number.isNaN(at)) return whole;
    if (form !== 'age') return print(form, at);
    const seconds = Math.max(0, nowMs - at) / 1_000;
    const [unit, next] = durationUnits.slice(durationUnits.findIndex(({ word }) => word === limitUnit));
    const count = limitUnit === undefined || !unit ? 0 : Math.floor(seconds / unit.seconds);
    if (!unit || count < 1 || count > 99) return spanInWords(seconds);
    const rest = next && count < 5 ? Math.floor((seconds - count * unit.seconds) / next.seconds) : 0;
    return twoUnits(count, unit.word, rest, next?.word ?? '');
  });
}

function twoUnits(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** Units of a duration, the largest first. */
export const durationUnits = [
  { word: 'd', seconds: 86_400 },
  { word: 'h', seconds: 3_600 },
  { word: 'min', seconds: 60 },
  { word: 's', seconds: 1 },
] as const;

/** A duration in words, rounded: two units at most, `1 d 2 h`, `52 min 54 s`, `340 ms`. */
export function durationInWords(seconds: number): string {
  if (seconds > 0 && seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  const whole = Math.round(seconds);
  const first = durationUnits.findIndex(({ seconds: size }) => whole >= size);
  if (first < 0) return '0 s';
  // Two neighbours: hours beside days, seconds beside minutes; a zero beside them is left out.
  const parts: string[] = [];
  let left = whole;
  for (const { word, seconds: size } of durationUnits.slice(first, first + 2)) {
    const count = Math.floor(left / size);
    if (count > 0) parts.push(`${count} ${word}`);
    left -= count * size;
  }
  return parts.join(' ');
}

/** Why an expected run came to nothing. */
export const slotCauseWords: Readonly<Record<SlotCause, string>> = {
  previousRunning: 'the run before it was still going on',
  deadlinePassed: 'its starting deadline passed before its Job was created',
  createRejected: 'the cluster refused to create its Job',
  controllerSilent: 'the CronJob controller started nothing at all meanwhile',
  specUncertain: 'the schedule was changed while the service did not watch',
  monitorDown: 'cronjob-monitor was not running, or could not see the cluster',
};

/** Why no expected runs are known of a CronJob: the end of "Not evaluated: …". `timeZone`: the one that its spec names. */
export function whyNotJudged(of: {
  readonly schedule: string;
  readonly timeZone?: string | null | undefined;
  readonly problem?: ScheduleProblem | null | undefined;
}): string {
  const { schedule, timeZone, problem } = of;
  switch (problem) {
    case 'unknownZone':
      return `unknown zone "${timeZone ?? /^(?:CRON_)?TZ=(\S+)/.exec(schedule)?.[1] ?? ''}"`;
    case 'zoneMismatch':
      return 'the cluster reads its schedule in another zone than cluster.default-time-zone says';
    case 'neverRuns':
      return impossibleDate(schedule) ?? `no date matches "${schedule}"`;
    default:
      return `the schedule "${schedule}" cannot be read`;
  }
}

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
const longestMonths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/** `30 February does not come`, where a schedule asks for one such date; undefined for other reasons never to run. */
function impossibleDate(schedule: string): string | undefined {
  const [day = '', month = ''] = schedule
    .replace(/^(CRON_)?TZ=\S+\s+/, '')
    .split(/\s+/)
    .slice(2, 4);
  const index = /^\d+$/.test(month)
    ? Number(month) - 1
    : months.findIndex((name) => name.slice(0, 3).toUpperCase() === month.toUpperCase());
  const name = months[index];
  const days = Number(day);
  return name !== undefined && Number.isInteger(days) && days > (longestMonths[index] ?? 31)
    ? `${days} ${name} does not come`
    : undefined;
}
