import type { Zone } from './zone.ts';

const secondsPerDay = 86_400;

/**
 * The hands of a clock on a wall in a zone, moved as Go's `time` package moves them: by calendar through `date`, by real
 * time through `add`. Fields are read after a move; everything is in seconds since 1970.
 */
export class WallClock {
  readonly zone: Zone;
  at = 0;
  year = 0;
  month = 0;
  day = 0;
  #dayNumber = 0;
  #secondOfDay = 0;

  constructor(zone: Zone, at: number) {
    this.zone = zone;
    this.set(at);
  }

  get hour(): number {
    return Math.floor(this.#secondOfDay / 3_600);
  }

  get minute(): number {
    return Math.floor(this.#secondOfDay / 60) % 60;
  }

  get second(): number {
    return this.#secondOfDay % 60;
  }

  /** 0 is Sunday. */
  get weekday(): number {
    return (((this.#dayNumber + 4) % 7) + 7) % 7;
  }

  set(at: number): void {
    const local = at + this.zone.offsetAt(at);
    const dayNumber = Math.floor(local / secondsPerDay);
    this.at = at;
    this.#secondOfDay = local - dayNumber * secondsPerDay;
    if (dayNumber === this.#dayNumber && this.day !== 0) return;
    this.#dayNumber = dayNumber;
    this.#setCalendar(dayNumber);
  }

  add(seconds: number): void {
    this.set(this.at + seconds);
  }

  /** Goes to this day of the clock's own month, keeping the time of day or setting it; an overflow counts on. */
  setDay(day: number, secondOfDay: number = this.#secondOfDay): void {
    this.set(this.#instantOf(dayNumberOf(this.year, this.month, day), secondOfDay));
  }

  /** The same day and time of day in the next month; 31 January becomes 2 or 3 March. */
  addMonth(): void {
    this.set(this.#instantOf(dayNumberOf(this.year, this.month + 1, this.day), this.#secondOfDay));
  }

  /** `time.Date`: the offset at the instant that the offset in force at the wall time, read as UTC, leads to. */
  #instantOf(dayNumber: number, secondOfDay: number): number {
    const wall = dayNumber * secondsPerDay + secondOfDay;
    return wall - this.zone.offsetAt(wall - this.zone.offsetAt(wall));
  }

  /** Days since 1970 to a date, in years that begin in March so that the leap day is the last one. */
  #setCalendar(dayNumber: number): void {
    const shifted = dayNumber + 719_468;
    const era = Math.floor(shifted / 146_097);
    const dayOfEra = shifted - era * 146_097;
    const yearOfEra = Math.floor(
      (dayOfEra - Math.floor(dayOfEra / 1_460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096)) / 365,
    );
    const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
    const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153);
    this.day = dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1;
    this.month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9;
    this.year = yearOfEra + era * 400 + (this.month <= 2 ? 1 : 0);
  }
}

/** Days since 1970 of a date; `month` 13 is January of the next year, `day` may pass the end of the month. */
function dayNumberOf(year: number, month: number, day: number): number {
  const fromMarch = month <= 2 ? year - 1 : year;
  const era = Math.floor(fromMarch / 400);
  const yearOfEra = fromMarch - era * 400;
  const monthFromMarch = month <= 2 ? month + 9 : month - 3; // 13 gives 10, which is January as well
  const dayOfYear = Math.floor((153 * monthFromMarch + 2) / 5) + day - 1;
  return (
    era * 146_097 + yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear - 719_468
  );
}
