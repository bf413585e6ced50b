/** How Go names the two forms of a point in time; both appear in error messages. */
const layouts = {
  Time: { layout: '2006-01-02T15:04:05Z07:00', decimals: 0 },
  MicroTime: { layout: '2006-01-02T15:04:05.000000Z07:00', decimals: 6 },
} as const;

/** A text that Go's `time.Parse` refuses; the message is Go's. */
export class TimeSyntaxError extends Error {}

/**
 * Reads a point in time as Go does and gives it back as Go prints it, in UTC: whole seconds for `Time`, exactly six
 * decimals for `MicroTime`. Throws `TimeSyntaxError`.
 */
export function readGoTime(text: string, form: 'Time' | 'MicroTime'): string {
  const { layout, decimals } = layouts[form];
  const parts = splitTime(text, layout, decimals);
  const ms = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
  const utc = new Date(ms - parts.offsetMs);
  // Years below 100 would be taken for the twentieth century.
  if (parts.year < 100) utc.setUTCFullYear(parts.year);
  const seconds = utc.toISOString().slice(0, 19);
  return decimals === 0 ? `${seconds}Z` : `${seconds}.${parts.fraction}Z`;
}

/** An instant as Go prints a `Time`: UTC, whole seconds. */
export function printTime(at: number): string {
  const second = Math.floor(at / 1_000);
  if (second !== printedSecond) {
    printedText = `${new Date(second * 1_000).toISOString().slice(0, 19)}Z`;
    printedSecond = second;
  }
  return printedText;
}

/** The last second that was printed: most writes come several to a second. */
let printedSecond = 0;
let printedText = '1970-01-01T00:00:00Z';

interface TimeParts {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  fraction: string;
  offsetMs: number;
}

function splitTime(text: string, layout: string, decimals: number): TimeParts {
  let rest = text;
  const refuse = (chunk: string): TimeSyntaxError =>
    new TimeSyntaxError(
      `parsing time ${JSON.stringify(text)} as ${JSON.stringify(layout)}: cannot parse ${JSON.stringify(rest)} as ${JSON.stringify(chunk)}`,
    );
  const outOfRange = (what: string): TimeSyntaxError =>
    new TimeSyntaxError(`parsing time ${JSON.stringify(text)}: ${what} out of range`);
  const digits = (count: number, chunk: string): number => {
    const found = new RegExp(`^[0-9]{${count}}`).exec(rest)?.[0];
    if (found === undefined) throw refuse(chunk);
    rest = rest.slice(count);
    return Number(found);
  };
  const literal = (character: string): void => {
    if (!rest.startsWith(character)) throw refuse(character);
    rest = rest.slice(1);
  };

  const year = digits(4, '2006');
  literal('-');
  const month = digits(2, '01');
  if (month < 1 || month > 12) throw outOfRange('month');
  literal('-');
  const day = digits(2, '02');
  literal('T');
  const hour = digits(2, '15');
  if (hour > 23) throw outOfRange('hour');
  literal(':');
  const minute = digits(2, '04');
  if (minute > 59) throw outOfRange('minute');
  literal(':');
  const second = digits(2, '05');
  if (second > 59) throw outOfRange('second');

  let fraction = '';
  if (decimals > 0) {
    const found = new RegExp(`^\\.[0-9]{${decimals}}`).exec(rest)?.[0];
    if (found === undefined) throw refuse(`.${'0'.repeat(decimals)}`);
    fraction = found.slice(1);
    rest = rest.slice(found.length);
  } else {
    rest = rest.replace(/^[.,][0-9]+/, '');
  }

  const zone = /^(?:Z|[+-][0-9]{2}:[0-9]{2})/.exec(rest)?.[0];
  if (zone === undefined) throw refuse('Z07:00');
  rest = rest.slice(zone.length);
  if (rest !== '') {
    throw new TimeSyntaxError(`parsing time ${JSON.stringify(text)}: extra text: ${JSON.stringify(rest)}`);
  }
  if (day < 1 || day > new Date(Date.UTC(year, month, 0)).getUTCDate()) throw outOfRange('day');
  return { year, month, day, hour, minute, second, fraction, offsetMs: offsetOf(zone) };
}

function offsetOf(zone: string): number {
  if (zone === 'Z') return 0;
  const sign = zone.startsWith('-') ? -1 : 1;
  return sign * (Number(zone.slice(1, 3)) * 60 + Number(zone.slice(4, 6))) * 60_000;
}
