import { readGoDuration } from './go-duration.ts';
import { isZoneName } from './zone-names.ts';

/** Minutes, hours, days and months at which something is due. */
export interface CalendarRule {
  readonly kind: 'calendar';
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly daysOfMonth: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly daysOfWeek: ReadonlySet<number>;
  /** One of the two day fields was a star: then both must fit, else one is enough. */
  readonly bothDaysMustFit: boolean;
  readonly zone: string | undefined;
}

interface IntervalRule {
  readonly kind: 'interval';
  readonly everyMs: number;
  readonly zone: string | undefined;
}

export type CronRule = CalendarRule | IntervalRule;

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: Readonly<Record<string, number>>;
}

const monthNames = Object.fromEntries(
  ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'].map((name, index) => [
    name,
    index + 1,
  ]),
);
const dayNames = Object.fromEntries(
  ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'].map((name, index) => [name, index]),
);

const bounds: readonly Bounds[] = [
  { min: 0, max: 59 },
  { min: 0, max: 23 },
  { min: 1, max: 31 },
  { min: 1, max: 12, names: monthNames },
  { min: 0, max: 6, names: dayNames },
];

const descriptors: Readonly<Record<string, string>> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
};

/** Reads what `spec.schedule` may say. Throws an Error with the text that the API server gives as the cause. */
export function readCronText(text: string): CronRule {
  let spec = text;
  let zone: string | undefined;
  if (/^(?:CRON_)?TZ=/.test(spec)) {
    const blank = spec.indexOf(' ');
    if (blank === -1) throw new Error('invalid schedule format: runtime error: slice bounds out of range [:-1]');
    const name = spec.slice(spec.indexOf('=') + 1, blank);
    if (name !== '' && name !== 'Local' && !isZoneName(name)) {
      throw new Error(`provided bad location ${name}: unknown time zone ${name}`);
    }
    zone = name === '' || name === 'Local' ? 'UTC' : name;
    spec = spec.slice(blank).trim();
  }
  if (spec.startsWith('@')) return readDescriptor(spec, zone);
  return readFields(spec, zone);
}

function readDescriptor(spec: string, zone: string | undefined): CronRule {
  const fields = descriptors[spec];
  if (fields !== undefined) return readFields(fields, zone);
  if (!spec.startsWith('@every ')) throw new Error(`unrecognized descriptor: ${spec}`);
  let everyMs: number;
  try {
    everyMs = readGoDuration(spec.slice('@every '.length));
  } catch (error) {
    throw new Error(`failed to parse duration ${spec}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  // Whole seconds, one at least.
  return { kind: 'interval', everyMs: Math.max(1_000, Math.trunc(everyMs / 1_000) * 1_000), zone };
}

function readFields(spec: string, zone: string | undefined): CalendarRule {
  const texts = spec.split(/\s+/).filter((field) => field !== '');
  if (texts.length !== 5) throw new Error(`expected exactly 5 fields, found ${texts.length}: [${texts.join(' ')}]`);
  const [minutes, hours, daysOfMonth, months, daysOfWeek] = texts.map((field, index) =>
    readField(field, bounds[index] ?? { min: 0, max: 0 }),
  );
  const values = (field: Field | undefined): ReadonlySet<number> => field?.values ?? new Set();
  return {
    kind: 'calendar',
    minutes: values(minutes),
    hours: values(hours),
    daysOfMonth: values(daysOfMonth),
    months: values(months),
    daysOfWeek: values(daysOfWeek),
    bothDaysMustFit: daysOfMonth?.star === true || daysOfWeek?.star === true,
    zone,
  };
}

interface Field {
  readonly values: Set<number>;
  readonly star: boolean;
}

function readField(text: string, limits: Bounds): Field {
  const values = new Set<number>();
  let star = false;
  for (const item of text.split(',')) {
    if (item === '') continue;
    const range = readRange(item, limits);
    star ||= range.star;
    for (let value = range.from; value <= range.to; value += range.step) values.add(value);
  }
  return { values, star };
}

function readRange(item: string, limits: Bounds): { from: number; to: number; step: number; star: boolean } {
  const [rangeText = '', stepText, ...moreSlashes] = item.split('/');
  const [low = '', high, ...moreHyphens] = rangeText.split('-');
  let { min: from, max: to } = limits;
  let star = low === '*' || low === '?';
  if (!star) {
    from = readValue(low, limits);
    if (moreHyphens.length > 0) throw new Error(`too many hyphens: ${item}`);
    to = high === undefined ? from : readValue(high, limits);
  }
  if (moreSlashes.length > 0) throw new Error(`too many slashes: ${item}`);
  let step = 1;
  if (stepText !== undefined) {
    step = readNumber(stepText);
    if (high === undefined) to = limits.max;
    if (step > 1) star = false;
  }
  if (from < limits.min) throw new Error(`beginning of range (${from}) below minimum (${limits.min}): ${item}`);
  if (to > limits.max) throw new Error(`end of range (${to}) above maximum (${limits.max}): ${item}`);
  if (from > to) throw new Error(`beginning of range (${from}) beyond end of range (${to}): ${item}`);
  if (step === 0) throw new Error(`step of range should be a positive number: ${item}`);
  return { from, to, step, star };
}

function readValue(text: string, limits: Bounds): number {
  return limits.names?.[text.toLowerCase()] ?? readNumber(text);
}

function readNumber(text: string): number {
  const quoted = JSON.stringify(text);
  if (!/^[+-]?[0-9]+$/.test(text)) {
    throw new Error(`failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}: invalid syntax`);
  }
  const value = Number(text);
  if (!Number.isSafeInteger(value)) {
    throw new Error(`failed to parse int from ${text}: strconv.Atoi: parsing ${quoted}: value out of range`);
  }
  if (value < 0) throw new Error(`negative number (${value}) not allowed: ${text}`);
  return value;
}
