import { ScheduleError } from './fields.ts';
import { isZoneName } from './zone-names.ts';

/** A time zone, by its offsets. */
export interface Zone {
  readonly name: string;
  /** Seconds that the zone is ahead of UTC at an instant in whole seconds since 1970. */
  offsetAt(second: number): number;
}

/** Zones asked for so far: offsets are facts, so all schedules share what was measured. At most one per IANA name. */
const zones = new Map<string, Zone>();

/**
 * The zone of an exact, case-sensitive IANA name, links included; the empty name is UTC, as in Go. `Local` is no zone:
 * Kubernetes refuses it.
 *
 * @throws ScheduleError `zone`
 */
export function getZone(name: string): Zone {
  const zone = zones.get(name);
  if (zone) return zone;
  const created = createZone(name);
  zones.set(name, created);
  return created;
}

function createZone(name: string): Zone {
  if (name === '' || name === 'UTC') return { name: 'UTC', offsetAt: () => 0 };
  if (!isZoneName(name)) throw new ScheduleError('zone', `unknown time zone "${name}"`);
  if (name === 'Factory') return { name, offsetAt: () => 0 }; // in the database, unknown to Intl
  return new IntlZone(name);
}

/**
 * Offsets are asked for spans of this many seconds, about 3 days. Both ends of a span are looked at and, if they differ,
 * all changes in it. So a pair of changes that cancel each other may hide if the span is the longer one: in all of the
 * database no such pair is closer than 3 days and 23 hours (Freetown, 1939).
 */
const spanSeconds = 2 ** 18;

/** About 67 years of spans: what a search in one zone may remember before it begins anew. */
const maxSpans = 8_192;

/** No zone leaves its local mean time before this year; `Intl` counts years before year 1 backwards. */
const firstSecond = Date.UTC(1800, 0, 1) / 1_000;

/** `Intl` knows no instant beyond the last one of `Date`; the span of this one still ends before it. */
const lastSecond = 8_640_000_000_000 - 2 * spanSeconds;

/** One offset, up to the next change or to the end of the span. */
interface Stretch {
  readonly until: number;
  readonly offset: number;
}

interface Span {
  readonly stretches: readonly Stretch[];
  /** The offset at the end of the span, where the next one begins. */
  readonly endOffset: number;
}

/** A zone as `Intl` knows it. One format costs 2 to 6 microseconds, so every answer is kept by span. */
class IntlZone implements Zone {
  readonly name: string;
  readonly #format: Intl.DateTimeFormat;
  readonly #spans = new Map<number, Span>();
  /** The stretch around the instant last asked: searches ask for neighbours of it. */
  #from = 0;
  #until = 0;
  #offset = 0;

  constructor(name: string) {
    this.name = name;
    this.#format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  offsetAt(second: number): number {
    if (second >= this.#from && second < this.#until) return this.#offset;
    const inRange = Math.min(Math.max(second, firstSecond), lastSecond);
    const index = Math.floor(inRange / spanSeconds);
    let from = index * spanSeconds;
    for (const { until, offset } of this.#spanAt(index).stretches) {
      if (inRange < until) return this.#keep(from, until, offset);
      from = until;
    }
    throw new Error('a span ends with its last stretch');
  }

  /** Remembers a stretch, together with the one remembered before if they touch and have the same offset. */
  #keep(from: number, until: number, offset: number): number {
    const isSame = offset === this.#offset;
    const follows = isSame && from === this.#until;
    const precedes = isSame && until === this.#from;
    if (!follows) this.#from = from;
    if (!precedes) this.#until = until;
    this.#offset = offset;
    return offset;
  }

  #spanAt(index: number): Span {
    const known = this.#spans.get(index);
    if (known) return known;
    if (this.#spans.size >= maxSpans) this.#spans.clear();
    const span = this.#measure(index);
    this.#spans.set(index, span);
    return span;
  }

  #measure(index: number): Span {
    const end = (index + 1) * spanSeconds;
    const endOffset = this.#spans.get(index + 1)?.stretches[0]?.offset ?? this.#ask(end);
    const stretches: Stretch[] = [];
    let from = index * spanSeconds;
    let offset = this.#spans.get(index - 1)?.endOffset ?? this.#ask(from);
    while (offset !== endOffset) {
      const change = this.#findChange(from, end, offset);
      stretches.push({ until: change, offset });
      from = change;
      offset = this.#ask(change);
    }
    stretches.push({ until: end, offset });
    return { stretches, endOffset };
  }

  /** The first second in (`from`, `end`] whose offset is another one than `offset`, which is that of `from`. */
  #findChange(from: number, end: number, offset: number): number {
    let same = from;
    let other = end;
    while (other - same > 1) {
      const middle = Math.floor((same + other) / 2);
      if (this.#ask(middle) === offset) same = middle;
      else other = middle;
    }
    return other;
  }

  #ask(second: number): number {
    const text = this.#format.format(second * 1_000);
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, wallSecond = 0] = text.split(/\D+/).map(Number);
    return Date.UTC(year, month - 1, day, hour, minute, wallSecond) / 1_000 - second;
  }
}
