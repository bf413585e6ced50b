import type { Ref, TimelineItem, UpcomingRun, Verdict } from '@cronjob-monitor/shared/contract';
import { windowAt, type Instant, type MaintenanceWindow } from '@cronjob-monitor/shared/domain';
import { parse, type Schedule } from '@cronjob-monitor/shared/domain/schedule';
import type { ScheduledCronJob } from '../../next-run.ts';
import { orNull, toSecondsOrNull, toWireInstant } from '../../wire-values.ts';

/** Which runs of a CronJob are shown: those within a window, or so many of them. */
export interface Span {
  readonly from: Instant;
  readonly until: Instant;
  /** Shown at most; the others are counted. */
  readonly most: number;
}

/** What the runs of a CronJob to come are told from. */
export interface PlannedCronJob extends Ref, ScheduledCronJob {
  readonly id: number;
}

/** Schedules and zones of one answer: many CronJobs share them, and neither is cheap to read. */
export class UpcomingRuns {
  readonly #defaultZone: string;
  readonly #clocks = new Map<string, ZoneClock>();
  readonly #schedules = new Map<string, Schedule>();
  readonly #slots = new Map<string, readonly Instant[]>();

  constructor(defaultZone: string) {
    this.#defaultZone = defaultZone;
  }

  /** Undefined: nothing is expected of it, for it is suspended or deleted or its schedule cannot be judged. */
  scheduleOf(cronJob: PlannedCronJob): Schedule | undefined {
    if (cronJob.suspended || cronJob.problem !== undefined || cronJob.deletedAt !== undefined) return undefined;
    const known = this.#schedules.get(cronJob.schedule);
    if (known) return known;
    try {
      const schedule = parse(cronJob.schedule);
      this.#schedules.set(cronJob.schedule, schedule);
      return schedule;
    } catch {
      return undefined; // its problem is told elsewhere
    }
  }

  /** Slots in (from, until], at most `most`. */
  slotsOf(cronJob: PlannedCronJob, schedule: Schedule, { from, until, most }: Span): readonly Instant[] {
    const zone = cronJob.timeZone ?? this.#defaultZone;
    // Intervals count from the last run of each CronJob, so none shares them.
    const anchor = schedule.kind === 'every' ? anchorOf(cronJob, schedule, from, zone) : from;
    const key = `${anchor} ${until} ${most} ${zone} ${cronJob.schedule}`; // no zone has a space
    const known = this.#slots.get(key);
    if (known) return known;
    const slots = schedule.between(anchor, until, zone, most);
    this.#slots.set(key, slots);
    return slots;
  }

  /** One lane of the timeline. */
  item(
    cronJob: PlannedCronJob,
    span: Span,
    more: {
      readonly expectedMs: number | undefined;
      readonly windows: readonly MaintenanceWindow[];
      readonly verdict: Verdict;
    },
  ): TimelineItem {
    const schedule = this.scheduleOf(cronJob);
    const slots = schedule ? this.slotsOf(cronJob, schedule, { ...span, most: mostCounted }) : [];
    const clock = this.#clockOf(schedule?.zone ?? cronJob.timeZone ?? this.#defaultZone);
    const last = slots[Math.min(slots.length, span.most) - 1] ?? span.from;
    return {
      namespace: cronJob.namespace,
      name: cronJob.name,
      timezone: orNull(cronJob.timeZone),
      suspended: cronJob.suspended,
      verdict: more.verdict,
      expectedDurationSeconds: toSecondsOrNull(more.expectedMs),
      next: slots.slice(0, span.most).map((at) => toRun(at, clock, more.windows)),
      skippedDates:
        schedule?.kind === 'cron' && clock
          ? skippedDates(cronJob.schedule, clock, {
              from: span.from,
              until: Math.min(span.until, last, span.from + yearMs),
            })
          : [],
      omitted: Math.max(0, slots.length - span.most),
    };
  }

  /**
   * What a change of the clocks does to the runs of a span, in words; undefined: nothing. What runs each hour or more often keeps its rhythm
   * whatever the clocks show.
   */
  clockChangeOf(
    cronJob: PlannedCronJob,
    schedule: Schedule,
    slots: readonly Instant[],
    { from, until }: Pick<Span, 'from' | 'until'>,
  ): string | undefined {
    if (schedule.kind !== 'cron') return undefined;
    const clock = this.#clockOf(schedule.zone ?? cronJob.timeZone ?? this.#defaultZone);
    if (!clock || clock.offsetAt(from - nearMs) === clock.offsetAt(until)) return undefined;
    const onWall = onWallOf(cronJob.schedule);
    const noon = Math.floor(from / dayMs) * dayMs;
    if (onWall.between(noon, noon + dayMs, 'UTC', hoursOfDay).length >= hoursOfDay) return undefined;
    for (const gap of clock.gaps(from, until)) {
      const [wall] = wallsIn(onWall, gap);
      if (wall !== undefined) return `${clockText(wall)} does not exist that day: the clocks go forward`;
    }
    const twice = slots.find((at) => clock.isRepeated(at));
    return twice === undefined
      ? undefined
      : `${clockText(twice + clock.offsetAt(twice))} comes twice that day: the clocks go back`;
  }

  #clockOf(zone: string): ZoneClock | undefined {
    const known = this.#clocks.get(zone);
    if (known) return known;
    try {
      const clock = createZoneClock(zone);
      this.#clocks.set(zone, clock);
      return clock;
    } catch {
      return undefined; // an unknown zone: nothing is expected then either
    }
  }
}

/** Runs of one CronJob that are counted; a week of minutes has 10,080. */
const mostCounted = 11_000;
/** Changes of clocks are looked for so far ahead. */
const yearMs = 366 * 86_400_000;

function toRun(at: Instant, clock: ZoneClock | undefined, windows: readonly MaintenanceWindow[]): UpcomingRun {
  return {
    scheduledFor: toWireInstant(at),
    localTime: clock?.localText(at) ?? toWireInstant(at),
    dst: clock?.isRepeated(at) ? 'repeated' : 'none',
    inMaintenance: windows.length > 0 && windowAt(windows, at) !== undefined,
  };
}

/** The last interval before `from`. */
function anchorOf(cronJob: PlannedCronJob, schedule: Schedule, from: Instant, zone: string): Instant {
  const anchor = cronJob.everyAnchorAt ?? cronJob.lastScheduleAt ?? cronJob.createdAt;
  const first = schedule.next(anchor, zone);
  if (first === null || first > from) return anchor;
  const interval = first - anchor;
  return anchor + Math.floor((from - anchor) / interval) * interval;
}

/** Local dates on which it would be due at a wall time that the clocks jump over. */
function skippedDates(text: string, clock: ZoneClock, span: Pick<Span, 'from' | 'until'>): string[] {
  const onWall = onWallOf(text);
  return clock
    .gaps(span.from, span.until)
    .filter((gap) => wallsIn(onWall, gap).length > 0)
    .map((gap) => new Date(gap.from).toISOString().slice(0, 10));
}

/** A schedule without its zone. */
function onWallOf(text: string): Schedule {
  return parse(text.replace(/^(CRON_)?TZ=\S*\s+/, ''));
}

/** The first wall time in a gap at which it would be due, read as if it were UTC. */
function wallsIn(onWall: Schedule, gap: { readonly from: Instant; readonly byMs: number }): readonly Instant[] {
  return onWall.between(gap.from - 1000, gap.from + gap.byMs - 1000, 'UTC', 1);
}

/** `02:30`, of a wall time that is given as if it were UTC. */
function clockText(wall: Instant): string {
  return new Date(wall).toISOString().slice(11, 16);
}

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const hoursOfDay = 24;
/** Clocks move by at most so much at once, and not twice within it. */
const nearMs = 3 * hourMs;
/** Two looks so far apart miss no change. */
const lookMs = 12 * hourMs;

/** What the clocks of one zone show. */
interface ZoneClock {
  /** Milliseconds that wall clocks are ahead of UTC. */
  offsetAt(at: Instant): number;
  /** `2026-11-22T02:30:00+01:00`. */
  localText(at: Instant): string;
  /** The wall time at `at` comes twice. */
  isRepeated(at: Instant): boolean;
  /** Wall times that never come in (from, to]: clocks jump from `from` on by `byMs`. Read as if they were UTC. */
  gaps(from: Instant, to: Instant): readonly { readonly from: Instant; readonly byMs: number }[];
}

/** Throws RangeError for a zone that is not in the time zone database. */
export function createZoneClock(zone: string): ZoneClock {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' });
  const offsets = new Map<Instant, number>();
  /** Offsets hold for a minute at least. */
  const offsetAt = (at: Instant): number => {
    const minute = Math.floor(at / minuteMs) * minuteMs;
    const offset = offsets.get(minute) ?? readOffset(format, minute);
    offsets.set(minute, offset);
    return offset;
  };

  return {
    offsetAt,
    localText(at) {
      const offset = offsetAt(at);
      const text = new Date(at + offset).toISOString().slice(0, 19);
      const minutes = Math.abs(offset) / minuteMs;
      const sign = offset < 0 ? '-' : '+';
      return `${text}${sign}${twoDigits(Math.floor(minutes / 60))}:${twoDigits(minutes % 60)}`;
    },
    isRepeated(at) {
      const offset = offsetAt(at);
      return [at - nearMs, at + nearMs].some((near) => {
        const other = offsetAt(near);
        return other !== offset && offsetAt(at + offset - other) === other;
      });
    },
    gaps(from, to) {
      const gaps: { from: Instant; byMs: number }[] = [];
      for (let at = from; at < to; at += lookMs) {
        const next = Math.min(at + lookMs, to);
        const byMs = offsetAt(next) - offsetAt(at);
        if (byMs > 0) gaps.push({ from: firstWith(offsetAt, at, next) + offsetAt(at), byMs });
      }
      return gaps;
    },
  };
}

/** The minute from which the offset is that of `to`. */
function firstWith(offsetAt: (at: Instant) => number, from: Instant, to: Instant): Instant {
  let [before, after] = [from, to];
  while (after - before > minuteMs) {
    const middle = before + Math.floor((after - before) / 2 / minuteMs) * minuteMs;
    if (offsetAt(middle) === offsetAt(to)) after = middle;
    else before = middle;
  }
  return Math.floor(after / minuteMs) * minuteMs;
}

function readOffset(format: Intl.DateTimeFormat, at: Instant): number {
  const part = format.formatToParts(at).find(({ type }) => type === 'timeZoneName');
  const [, sign, hours, minutes] = /^GMT(?:([+-])(\d{2}):(\d{2}))/.exec(part?.value ?? '') ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * minuteMs;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
}
