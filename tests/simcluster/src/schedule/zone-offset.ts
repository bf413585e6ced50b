const dayMs = 86_400_000;

/** Offset of local time from UTC, milliseconds, at an instant. */
type OffsetAt = (at: number) => number;

const offsets = new Map<string, OffsetAt>();

/** The offset function of a zone. Asks Intl once per day and remembers; throws RangeError for a zone that Intl lacks. */
export function offsetOfZone(zone: string): OffsetAt {
  let known = offsets.get(zone);
  if (known === undefined) {
    known = zone === 'UTC' || zone === 'Etc/UTC' ? () => 0 : rememberingOffset(zone);
    offsets.set(zone, known);
  }
  return known;
}

function rememberingOffset(zone: string): OffsetAt {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
    era: 'short',
  });
  const ask = (at: number): number => {
    const parts = new Map(format.formatToParts(at).map((part) => [part.type, part.value]));
    const number = (type: Intl.DateTimeFormatPartTypes): number => Number(parts.get(type));
    const local = Date.UTC(
      number('year'),
      number('month') - 1,
      number('day'),
      number('hour'),
      number('minute'),
      number('second'),
    );
    return local - Math.floor(at / 1000) * 1000;
  };
  const atMidnight = new Map<number, number>();
  const midnight = (day: number): number => {
    let offset = atMidnight.get(day);
    if (offset === undefined) {
      offset = ask(day * dayMs);
      atMidnight.set(day, offset);
    }
    return offset;
  };
  return (at) => {
    const day = Math.floor(at / dayMs);
    const offset = midnight(day);
    // Only on the few days on which the clock changes must the instant itself be asked for.
    return offset === midnight(day + 1) ? offset : ask(at);
  };
}

/** An instant as Go prints it in a zone: RFC 3339, `Z` at offset zero. */
export function printInZone(at: number, zone: string): string {
  const offset = offsetOfZone(zone)(at);
  const local = new Date(at + offset).toISOString().slice(0, 19);
  if (offset === 0) return `${local}Z`;
  const minutes = Math.abs(offset) / 60_000;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  return `${local}${offset < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
}
