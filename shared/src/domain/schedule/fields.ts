/**
 * Why a schedule cannot be used: `syntax` (the text is no schedule), `zone` (its time zone is unknown) or `anchor` (the
 * last slot of an interval was asked without the instant it counts from).
 */
export type ScheduleErrorCode = 'syntax' | 'zone' | 'anchor';

/** Thrown by `parse` for what the CronJob controller rejects, and by a schedule asked for an unknown zone. */
export class ScheduleError extends Error {
  readonly code: ScheduleErrorCode;

  constructor(code: ScheduleErrorCode, message: string) {
    super(message);
    this.name = 'ScheduleError';
    this.code = code;
  }
}

/** What one field of a schedule matches. */
interface Field {
  /** `matches[value]` is 1 for every value that the field names. */
  readonly matches: Uint8Array;
  /** The field matches no value at all, as `,` does. */
  readonly empty: boolean;
  /** It carries the star mark: day of month and day of week must both match if either carries it. */
  readonly star: boolean;
}

/** The five fields of a schedule, in the order of its text. */
export interface CronFields {
  readonly minute: Field;
  readonly hour: Field;
  readonly dayOfMonth: Field;
  readonly month: Field;
  readonly dayOfWeek: Field;
}

interface Bounds {
  readonly min: number;
  readonly max: number;
  readonly names?: ReadonlyMap<string, number>;
}

const monthNames = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const dayNames = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const minutes: Bounds = { min: 0, max: 59 };
const hours: Bounds = { min: 0, max: 23 };
const daysOfMonth: Bounds = { min: 1, max: 31 };
const months: Bounds = { min: 1, max: 12, names: new Map(monthNames.map((name, index) => [name, index + 1])) };
const daysOfWeek: Bounds = { min: 0, max: 6, names: new Map(dayNames.map((name, index) => [name, index])) };

/** The largest number that Go's `strconv.Atoi` reads. */
const maxInteger = (1n << 63n) - 1n;

/**
 * Reads the five texts of a schedule as robfig/cron reads them (kubernetes.md 1.2).
 *
 * @throws ScheduleError `syntax`
 */
export function parseFields(texts: readonly string[]): CronFields {
  const [minute, hour, dayOfMonth, month, dayOfWeek, ...more] = texts;
  if (
    minute === undefined ||
    hour === undefined ||
    dayOfMonth === undefined ||
    month === undefined ||
    dayOfWeek === undefined ||
    more.length > 0
  ) {
    throw new ScheduleError('syntax', `a schedule has 5 fields, this one has ${texts.length}`);
  }
  return {
    minute: parseField(minute, minutes),
    hour: parseField(hour, hours),
    dayOfMonth: parseField(dayOfMonth, daysOfMonth),
    month: parseField(month, months),
    dayOfWeek: parseField(dayOfWeek, daysOfWeek),
  };
}

function parseField(text: string, bounds: Bounds): Field {
  const matches = new Uint8Array(bounds.max + 1);
  let star = false;
  for (const item of text.split(',')) {
    if (item === '') continue;
    if (addItem(item, bounds, matches)) star = true;
  }
  return { matches, empty: !matches.includes(1), star };
}

/** Marks what one item of a list names; returns whether it carries the star mark. */
function addItem(item: string, bounds: Bounds, matches: Uint8Array): boolean {
  const [range = '', stepText, ...moreSteps] = item.split('/');
  const [low = '', high, ...moreHighs] = range.split('-');
  const isStar = low === '*' || low === '?';
  const start = isStar ? bounds.min : parseValue(low, item, bounds);
  let end = start;
  if (isStar) end = bounds.max;
  else if (moreHighs.length > 0) throw refuse(item, 'a range has one hyphen');
  else if (high !== undefined) end = parseValue(high, item, bounds);

  if (moreSteps.length > 0) throw refuse(item, 'a step has one slash');
  const step = stepText === undefined ? 1 : parseInteger(stepText, item);
  if (stepText !== undefined && high === undefined) end = bounds.max;

  if (start < bounds.min) throw refuse(item, `${start} is below ${bounds.min}`);
  if (end > bounds.max) throw refuse(item, `${end} is above ${bounds.max}`);
  if (start > end) throw refuse(item, `${start} is beyond ${end}`);
  if (step === 0) throw refuse(item, 'a step is at least 1');
  for (let value = start; value <= end; value += step) matches[value] = 1;
  return isStar && step === 1;
}

function parseValue(text: string, item: string, bounds: Bounds): number {
  // Go lowers a dotted capital I to a plain i, JavaScript to two code points.
  const named = bounds.names?.get(text.replaceAll('\u0130', 'i').toLowerCase());
  return named ?? parseInteger(text, item);
}

/** Numbers of more than 53 bits lose their last digits; every bound is far below them. */
function parseInteger(text: string, item: string): number {
  if (!/^[+-]?[0-9]+$/.test(text)) throw refuse(item, `"${text}" is not a number`);
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text);
  if (value < 0n || value > maxInteger) throw refuse(item, `"${text}" is out of range`);
  return Number(value);
}

function refuse(item: string, why: string): ScheduleError {
  return new ScheduleError('syntax', `"${item}": ${why}`);
}
