import type { CronFields } from './fields.ts';
import { WallClock } from './wall-clock.ts';
import type { Zone } from './zone.ts';

const yearsAhead = 5;

/**
 * The first slot after an instant: the search of robfig/cron's `SpecSchedule.Next`, step by step, since its results
 * around clock changes follow from the order of its steps and from nothing else (kubernetes.md 1.3). One of them: in hours
 * that a change of more than one hour repeats, the slot may lie before `after`. From a slot it never does.
 *
 * @param after seconds since 1970; a fraction is cut
 * @param until the search may give up beyond this second: it looks there whenever a field wraps
 * @returns whole seconds since 1970, or undefined when nothing is found by the end of the fifth year ahead
 */
export function findSlotAfter(
  fields: CronFields,
  after: number,
  zone: Zone,
  until: number = Infinity,
): number | undefined {
  if (neverMatches(fields)) return undefined;
  const search = new Search(fields, zone, Math.floor(after) + 1);
  const { clock } = search;
  const lastYear = clock.year + yearsAhead;
  while (clock.year <= lastYear && clock.at <= until) {
    if (
      search.reachMonth() &&
      search.reachDay() &&
      search.reachHour() &&
      search.reachMinute() &&
      search.reachSecond()
    ) {
      return clock.at;
    }
  }
  return undefined;
}

/** A field such as `,` matches nothing: the search would come to the same end minute by minute. */
function neverMatches({ minute, hour, dayOfMonth, month, dayOfWeek }: CronFields): boolean {
  if (minute.empty || hour.empty || month.empty) return true;
  const bothMustMatch = dayOfMonth.star || dayOfWeek.star;
  return bothMustMatch ? dayOfMonth.empty || dayOfWeek.empty : dayOfMonth.empty && dayOfWeek.empty;
}

/**
 * One search. Each `reach` method moves the clock until its field matches and returns true, or returns false as soon as
 * the field wraps: then the search begins again at the month. The first step of all cuts the smaller fields to zero.
 */
class Search {
  readonly clock: WallClock;
  readonly #fields: CronFields;
  #moved = false;

  constructor(fields: CronFields, zone: Zone, from: number) {
    this.#fields = fields;
    this.clock = new WallClock(zone, from);
  }

  reachMonth(): boolean {
    const { clock } = this;
    while (this.#fields.month.matches[clock.month] !== 1) {
      if (this.#isFirstMove()) clock.setDay(1, 0);
      clock.addMonth();
      if (clock.month === 1) return false;
    }
    return true;
  }

  reachDay(): boolean {
    const { clock } = this;
    while (!this.#dayMatches()) {
      if (this.#isFirstMove()) clock.setDay(clock.day, 0);
      this.#addDay();
      if (clock.day === 1) return false;
    }
    return true;
  }

  reachHour(): boolean {
    const { clock } = this;
    while (this.#fields.hour.matches[clock.hour] !== 1) {
      if (this.#isFirstMove()) clock.setDay(clock.day, clock.hour * 3_600);
      clock.add(3_600);
      if (clock.hour === 0) return false;
    }
    return true;
  }

  reachMinute(): boolean {
    const { clock } = this;
    while (this.#fields.minute.matches[clock.minute] !== 1) {
      // Cut in UTC: where the offset has seconds, the seconds of the wall stay.
      if (this.#isFirstMove()) clock.set(Math.floor(clock.at / 60) * 60);
      clock.add(60);
      if (clock.minute === 0) return false;
    }
    return true;
  }

  reachSecond(): boolean {
    const { clock } = this;
    while (clock.second !== 0) {
      this.#moved = true;
      clock.add(1);
      if (clock.second === 0) return false;
    }
    return true;
  }

  /**
   * One day on by the calendar; an hour other than 0 means that midnight does not exist there, and real hours bring
   * the clock to 0 of that day or, by the rule of the original, somewhere else.
   *
   * Where a whole day was skipped (Apia, 2011-12-30) the step comes back to where it began. The original repeats it
   * for ever; here the next step goes one day further.
   */
  #addDay(): void {
    const { clock } = this;
    const before = clock.at;
    clock.setDay(clock.day + 1);
    if (clock.at === before) clock.setDay(clock.day + 2);
    if (clock.hour > 12) clock.add((24 - clock.hour) * 3_600);
    else if (clock.hour !== 0) clock.add(-clock.hour * 3_600);
  }

  #dayMatches(): boolean {
    const { dayOfMonth, dayOfWeek } = this.#fields;
    const dayOfMonthMatches = dayOfMonth.matches[this.clock.day] === 1;
    const dayOfWeekMatches = dayOfWeek.matches[this.clock.weekday] === 1;
    if (dayOfMonth.star || dayOfWeek.star) return dayOfMonthMatches && dayOfWeekMatches;
    return dayOfMonthMatches || dayOfWeekMatches;
  }

  #isFirstMove(): boolean {
    const first = !this.#moved;
    this.#moved = true;
    return first;
  }
}
