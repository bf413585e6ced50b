import type { Instant } from '../instant.ts';
import { findSlotAfter } from './cron-search.ts';
import { type CronFields, ScheduleError } from './fields.ts';
import { parseText } from './parse.ts';
import { getZone, type Zone } from './zone.ts';

/**
 * When a CronJob is due. A slot is a whole second, of a cron text second 0. Slots are a chain: `next` from a slot and from
 * an instant between two slots may differ near a clock change that hides midnight (kubernetes.md 1.3), so who needs the
 * slots of the CronJob controller chains from its last one.
 *
 * Every method throws ScheduleError `zone` for an unknown zone, unless the text has its own, and RangeError for what is
 * no instant.
 */
export interface Schedule {
  readonly kind: 'cron' | 'every';
  /** The zone of a `TZ=` or `CRON_TZ=` prefix: it wins over the argument. Null without a prefix, and with `TZ=Local`. */
  readonly zone: string | null;

  /** The first slot after an instant; null: there is none by the end of the fifth year ahead. */
  next(after: Instant, zone: string): Instant | null;

  /**
   * The last slot before an instant; null: there is none within some 12 years.
   *
   * The slots of `every` are `anchor` + n intervals, n from 1 on; without its anchor it throws ScheduleError `anchor`.
   * Cron texts have no use for the anchor.
   */
  previous(before: Instant, zone: string, anchor?: Instant): Instant | null;

  /** `next` chained from `from`: the slots in (`from`, `to`], at most `limit` of them (10,000 if not given). */
  between(from: Instant, to: Instant, zone: string, limit?: number): Instant[];
}

const defaultLimit = 10_000;

/**
 * Reads the `schedule` of a CronJob: five fields, a descriptor such as `@daily`, or `@every` with a Go duration.
 *
 * @throws ScheduleError `syntax` or `zone`, for exactly what `ParseStandard` of robfig/cron v3 rejects
 */
export function parse(spec: string): Schedule {
  const parsed = parseText(spec);
  return parsed.kind === 'cron'
    ? new CronSchedule(parsed.zone, parsed.fields)
    : new EverySchedule(parsed.zone, parsed.intervalSeconds);
}

class CronSchedule implements Schedule {
  readonly kind = 'cron';
  readonly zone: string | null;
  readonly #fields: CronFields;

  constructor(zone: string | null, fields: CronFields) {
    this.zone = zone;
    this.#fields = fields;
  }

  next(after: Instant, zone: string): Instant | null {
    return toInstant(findSlotAfter(this.#fields, toSeconds(after), this.#zoneOf(zone)));
  }

  previous(before: Instant, zone: string): Instant | null {
    return toInstant(findSlotBefore(this.#fields, toSeconds(before), this.#zoneOf(zone)));
  }

  between(from: Instant, to: Instant, zone: string, limit: number = defaultLimit): Instant[] {
    const inZone = this.#zoneOf(zone);
    return chain((after, until) => findSlotAfter(this.#fields, after, inZone, until), from, to, limit);
  }

  #zoneOf(argument: string): Zone {
    return getZone(this.zone ?? argument);
  }
}

/** `@every`: a constant distance, whatever the clocks on the walls show. */
class EverySchedule implements Schedule {
  readonly kind = 'every';
  readonly zone: string | null;
  readonly #intervalSeconds: number;

  constructor(zone: string | null, intervalSeconds: number) {
    this.zone = zone;
    this.#intervalSeconds = intervalSeconds;
  }

  next(after: Instant, zone: string): Instant | null {
    this.#checkZone(zone);
    return toInstant(Math.floor(toSeconds(after)) + this.#intervalSeconds);
  }

  previous(before: Instant, zone: string, anchor?: Instant): Instant | null {
    this.#checkZone(zone);
    if (anchor === undefined) throw new ScheduleError('anchor', 'an interval has no last slot without its anchor');
    const start = Math.floor(toSeconds(anchor));
    const intervals = Math.ceil((toSeconds(before) - start) / this.#intervalSeconds) - 1;
    return intervals < 1 ? null : toInstant(start + intervals * this.#intervalSeconds);
  }

  between(from: Instant, to: Instant, zone: string, limit: number = defaultLimit): Instant[] {
    this.#checkZone(zone);
    return chain((after) => Math.floor(after) + this.#intervalSeconds, from, to, limit);
  }

  #checkZone(argument: string): void {
    getZone(this.zone ?? argument);
  }
}

/** `next` gives the first slot after one instant, in seconds; beyond the other it may give up. */
type NextSlot = (after: number, until: number) => number | undefined;

function chain(next: NextSlot, from: Instant, to: Instant, limit: number): Instant[] {
  const slots: Instant[] = [];
  const last = toSeconds(to);
  let after = toSeconds(from);
  while (slots.length < limit) {
    const slot = next(after, last);
    if (slot === undefined || slot > last) break;
    slots.push(slot * 1_000);
    after = slot;
  }
  return slots;
}

const shortestLookBack = 60;

/** Below this much there is nothing to narrow: the slots of two hours are chained at once. */
const longestChain = 7_200;

/** Twelve years: the rarest schedule is 29 February, eight years apart around 1900 and 2100. */
const farthestLookBack = 12 * 366 * 86_400;

/**
 * The last slot before an instant: looks back a minute and twice as far each time until a slot is found, then narrows
 * the look-back while it still finds one, and chains from there.
 */
function findSlotBefore(fields: CronFields, before: number, zone: Zone): number | undefined {
  let near = 0;
  let far = shortestLookBack;
  while (!isFoundAfter(before - far)) {
    if (far >= farthestLookBack) return undefined;
    near = far;
    far *= 2;
  }
  while (far - near > longestChain) {
    const middle = Math.floor((near + far) / 2);
    if (isFoundAfter(before - middle)) far = middle;
    else near = middle;
  }
  let found: number | undefined;
  for (;;) {
    const slot = findSlotAfter(fields, found ?? before - far, zone, before);
    const isLater = slot !== undefined && (found === undefined || slot > found);
    if (!isLater || slot >= before) return found;
    found = slot;
  }

  function isFoundAfter(start: number): boolean {
    const slot = findSlotAfter(fields, start, zone, before);
    return slot !== undefined && slot < before;
  }
}

/** The n-th slot after an instant; undefined: none comes, or the schedule or its zone cannot be evaluated, which is told by itself. */
export function nthSlotAfter(schedule: string, zone: string, after: Instant, n: number): Instant | undefined {
  try {
    const parsed = parse(schedule);
    let at: Instant | null = after;
    for (let count = 0; count < n && at !== null; count++) at = parsed.next(at, zone);
    return at ?? undefined;
  } catch {
    return undefined;
  }
}

function toSeconds(instant: Instant): number {
  if (!Number.isFinite(instant)) throw new RangeError(`${instant} is no instant`);
  return instant / 1_000;
}

function toInstant(seconds: number | undefined): Instant | null {
  return seconds === undefined ? null : seconds * 1_000;
}
