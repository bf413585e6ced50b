import { randomOf } from './seeded.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

/** What one CronJob of a history is, and what people do to it. */
export interface CronJobScript {
  readonly name: string;
  readonly schedule: string;
  readonly timeZone: string | undefined;
  readonly policy: 'Allow' | 'Forbid' | 'Replace';
  readonly deadlineS: number | undefined;
  readonly successLimit: number;
  readonly failureLimit: number;
  readonly ttlS: number | undefined;
  /** How long its runs take by turns, seconds. */
  readonly seconds: readonly number[];
  /** How they end by turns. */
  readonly ends: readonly string[];
  readonly edits: readonly Edit[];
}

export interface Edit {
  /** Milliseconds after the start of the history; never on a full minute. */
  readonly afterMs: number;
  readonly change: Readonly<Record<string, unknown>>;
}

/** A time in which something is away. */
export interface Outage {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One random history of a cluster and of us. */
export interface History {
  readonly seed: number;
  readonly startAt: number;
  readonly lengthMs: number;
  readonly defaultZone: string;
  /** Who wrote what is written on the objects, as an API server does unless a client strips it. */
  readonly signed: boolean;
  readonly cronJobs: readonly CronJobScript[];
  /** The controller of CronJobs is down. */
  readonly controllerOutages: readonly Outage[];
  /** We are down; `lost`: what happened in the last minute before was not written any more. */
  readonly downtimes: readonly (Outage & { readonly lost: boolean })[];
  /** Our watch is broken and lists again. */
  readonly blindTimes: readonly Outage[];
}

const secondMs = 1_000;

/** Around changes of the clock in the zones below, and of days without one. */
const starts = [
  '2026-03-28T18:20:11Z',
  '2026-10-24T19:05:41Z',
  '2026-03-07T22:40:23Z',
  '2026-10-31T20:10:07Z',
  '2026-06-14T03:30:31Z',
  '2026-12-31T15:45:19Z',
];
const zones = [undefined, undefined, 'UTC', 'Europe/Berlin', 'America/New_York', 'Asia/Kolkata'];
const schedules = [
  '*/5 * * * *',
  '*/10 * * * *',
  '*/20 * * * *',
  '0 * * * *',
  '15,45 * * * *',
  '7 */2 * * *',
  '30 1 * * *',
  '30 2 * * *',
  '*/15 1-4 * * *',
  '*/30 9-17 * * 1-5',
  '0,5 * * * *',
  '@hourly',
  '@every 7m',
  '@every 45m',
];
const durations = [[20], [45, 200], [400], [30, 30, 900], [1_500], [4_000]];
const endings = [['success'], ['success'], ['success', 'exit:1'], ['exit:3'], ['success', 'success', 'exit:1']];

/** The history of a seed: always the same. */
export function randomHistory(seed: number): History {
  const random = randomOf(seed);
  const lengthMs = random.whole(6, 11) * hourMs;
  const outages = (most: number, longest: number): Outage[] =>
    Array.from({ length: random.whole(0, most) }, () => {
      const fromMs = random.whole(hourMs, lengthMs - hourMs);
      return { fromMs, toMs: Math.min(fromMs + random.whole(secondMs, longest), lengthMs - 30 * minuteMs) };
    });
  return {
    seed,
    startAt: Date.parse(random.one(starts)),
    lengthMs,
    defaultZone: random.one(['UTC', 'UTC', 'Europe/Berlin']),
    signed: random.chance(0.7),
    cronJobs: Array.from({ length: random.whole(2, 3) }, (_, index) => randomCronJob(random, `job-${index}`, lengthMs)),
    controllerOutages: apart(outages(2, random.one([3 * minuteMs, 40 * minuteMs, 3 * hourMs]))),
    downtimes: apart(outages(2, random.one([2 * minuteMs, hourMs, 6 * hourMs]))).map((outage) => ({
      ...outage,
      lost: random.chance(0.3),
    })),
    blindTimes: apart(outages(1, 30 * minuteMs)),
  };
}

type Random = ReturnType<typeof randomOf>;

function randomCronJob(random: Random, name: string, lengthMs: number): CronJobScript {
  const schedule = random.one(schedules);
  const isInterval = schedule.startsWith('@every');
  const edits = Array.from({ length: random.whole(0, 4) }, () => ({
    afterMs: random.whole(1, lengthMs / minuteMs - 1) * minuteMs + random.whole(9_000, 51_000),
    change: randomChange(random, isInterval),
  }));
  return {
    name,
    schedule,
    timeZone: random.one(zones),
    policy: random.one(['Allow', 'Allow', 'Forbid', 'Forbid', 'Replace']),
    // After a pause an interval with a deadline counts anew, which only its own Jobs tell.
    deadlineS: isInterval ? undefined : random.one([undefined, undefined, 20, 90, 250, 1_000]),
    successLimit: random.one([3, 3, 0, 1, 100]),
    failureLimit: random.one([1, 1, 0, 100]),
    ttlS: random.one([undefined, undefined, undefined, 0, 60]),
    seconds: random.one(durations),
    ends: random.one(endings),
    edits: edits.sort((a, b) => a.afterMs - b.afterMs),
  };
}

function randomChange(random: Random, isInterval: boolean): Record<string, unknown> {
  const calm = schedules.filter((schedule) => schedule.startsWith('@every') === isInterval);
  return random.one([
    { suspend: true },
    { suspend: false },
    { schedule: random.one(calm) },
    { concurrencyPolicy: random.one(['Allow', 'Forbid', 'Replace']) },
    { successfulJobsHistoryLimit: random.one([0, 3, 100]) },
  ]);
}

/** In their order, those that touch left out. */
function apart(outages: readonly Outage[]): Outage[] {
  const found: Outage[] = [];
  for (const outage of outages.toSorted((a, b) => a.fromMs - b.fromMs)) {
    if (outage.toMs > outage.fromMs && outage.fromMs > (found.at(-1)?.toMs ?? 0) + 2 * minuteMs) found.push(outage);
  }
  return found;
}
