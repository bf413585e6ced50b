import type { Instant } from '../instant.ts';
import { parse, type Schedule } from '../schedule/index.ts';
import { createZoneClock, nearMs, type ZoneClock } from '../schedule/zone-clock.ts';
import { dayMs } from '../duration.ts';

/** What decides when a CronJob runs. */
export interface ScheduleFacts {
  readonly schedule: string;
  /** Undefined: the cluster's default. */
  readonly timeZone: string | undefined;
  readonly suspended: boolean;
  readonly problem: string | undefined;
  readonly createdAt: Instant;
  readonly deletedAt: Instant | undefined;
  readonly lastScheduleAt: Instant | undefined;
  readonly everyAnchorAt: Instant | undefined;
}

/** Which runs of a CronJob are told: those within a window, or so many of them. */
export interface Span {
  readonly from: Instant;
  readonly until: Instant;
  /** Told at most. */
  readonly most: number;
}

const hoursOfDay = 24;

/** Schedules and zones of one answer: many CronJobs share them, and neither is cheap to read. */
export class UpcomingRuns {
  readonly defaultZone: string;
  readonly #clocks = new Map<string, ZoneClock>();
  readonly #schedules = new Map<string, Schedule>();
  readonly #slots = new Map<string, readonly Instant[]>();

  constructor(defaultZone: string) {
    this.defaultZone = defaultZone;
  }

  /** Undefined: nothing is expected of it, for it is suspended or deleted or its schedule cannot be judged. */
  scheduleOf(cronJob: ScheduleFacts): Schedule | undefined {
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
  slotsOf(cronJob: ScheduleFacts, schedule: Schedule, { from, until, most }: Span): readonly Instant[] {
    const zone = cronJob.timeZone ?? this.defaultZone;
    // Intervals count from the last run of each CronJob, so none shares them.
    const anchor = schedule.kind === 'every' ? anchorOf(cronJob, schedule, from, zone) : from;
    const key = `${anchor} ${until} ${most} ${zone} ${cronJob.schedule}`; // no zone has a space
    const known = this.#slots.get(key);
    if (known) return known;
    const slots = schedule.between(anchor, until, zone, most);
    this.#slots.set(key, slots);
    return slots;
  }

  /**
   * What a change of the clocks does to the runs of a span, in words; undefined: nothing. What runs each hour or more often keeps its rhythm
   * whatever the clocks show.
   */
  clockChangeOf(
    cronJob: ScheduleFacts,
    schedule: Schedule,
    slots: readonly Instant[],
    { from, until }: Pick<Span, 'from' | 'until'>,
  ): string | undefined {
    if (schedule.kind !== 'cron') return undefined;
    const clock = this.clockOf(schedule.zone ?? cronJob.timeZone ?? this.defaultZone);
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

  /** Undefined: there is no such zone. */
  clockOf(zone: string): ZoneClock | undefined {
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

/** The last interval before `from`. */
function anchorOf(cronJob: ScheduleFacts, schedule: Schedule, from: Instant, zone: string): Instant {
  const anchor = cronJob.everyAnchorAt ?? cronJob.lastScheduleAt ?? cronJob.createdAt;
  const first = schedule.next(anchor, zone);
  if (first === null || first > from) return anchor;
  const interval = first - anchor;
  return anchor + Math.floor((from - anchor) / interval) * interval;
}

/** Local dates on which it would be due at a wall time that the clocks jump over. */
export function skippedDates(text: string, clock: ZoneClock, span: Pick<Span, 'from' | 'until'>): string[] {
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
