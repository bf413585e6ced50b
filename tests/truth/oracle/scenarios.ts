import { randomOf } from '../../faults/ledger/seeded.ts';

/** The life of one cluster: what people and outages do to it, and how each run ends. The program in tests/realcluster/oracle plays it. */
export interface Scenario {
  readonly seed: number;
  readonly from: string;
  readonly until: string;
  readonly steps: readonly Step[];
  /** By name of the CronJob: what its Jobs do, by turns. */
  readonly runs: Readonly<Record<string, readonly { readonly seconds: number; readonly succeeded: boolean }[]>>;
}

export interface Step {
  readonly at: string;
  readonly do: 'apply' | 'delete' | 'runNow' | 'controllerDown' | 'controllerUp' | 'rejectJobs' | 'acceptJobs';
  readonly name?: string;
  readonly spec?: object;
}

type Random = ReturnType<typeof randomOf>;

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** How often a schedule fires decides how long its CronJob lives, so that a cluster of any kind costs about the same. */
const schedules: Readonly<Record<'rare' | 'daily' | 'hourly' | 'busy', readonly string[]>> = {
  rare: ['0 4 * * 1', '30 2 1 * *', '@weekly', '@monthly', '15 3 * * 6,0', '0 0 29 2 *', '0 5 13 * 5'],
  daily: ['0 2 * * *', '30 1 * * *', '30 2 * * *', '0 0 * * *', '@daily', '45 23 * * 1-5', '59 1 * * *', '0 3 */2 * 1'],
  hourly: ['0 */6 * * *', '15 1-4 * * *', '0 9-17/4 * * 1-5', '20 */3 * * *', '@every 5h', '@every 7h30m'],
  busy: ['0 * * * *', '*/20 * * * *', '7,37 * * * *', '*/5 1-3 * * *', '@every 25m', '0,5 * * * *'],
};
const lengths = { rare: 365 * day, daily: 200 * day, hourly: 60 * day, busy: 9 * day };
const zones = [
  undefined,
  undefined,
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Santiago',
  'Africa/Cairo',
  'Asia/Beirut',
  'Australia/Lord_Howe',
  'Asia/Kolkata',
  'Atlantic/Azores',
];

/** A year of the cluster of this seed: always the same. */
export function scenarioOf(seed: number): Scenario {
  const random = randomOf(seed);
  const from = Date.UTC(2026, 0, 1) + random.whole(0, 364) * day + 500;
  const until = from + 365 * day;
  const steps: (Step & { readonly order: number })[] = [];
  const add = (at: number, step: Omit<Step, 'at'>): void => {
    // Half a second past: never at the instant of a slot, nor of a timer of the controllers.
    const order = Math.floor(at / second) * second + 500;
    if (order < until) steps.push({ at: new Date(order).toISOString(), order, ...step });
  };
  const runs: Record<string, { seconds: number; succeeded: boolean }[]> = {};
  for (let index = random.whole(2, 5); index > 0; index--) {
    const name = `job-${index}`;
    runs[name] = runsOf(random);
    live(random, { name, from, until }, add);
  }
  for (let outages = random.whole(0, 5); outages > 0; outages--) {
    const [down, up] = random.chance(0.7)
      ? (['controllerDown', 'controllerUp'] as const)
      : (['rejectJobs', 'acceptJobs'] as const);
    const at = from + random.whole(1, 360) * day + random.whole(0, day);
    add(at, { do: down });
    add(at + random.one([40 * second, 5 * minute, hour, 7 * hour, 3 * day]), { do: up });
  }
  const ordered = steps.toSorted((a, b) => a.order - b.order).map(({ order: _, ...step }) => step);
  return { seed, from: new Date(from).toISOString(), until: new Date(until).toISOString(), steps: ordered, runs };
}

/** A CronJob from its creation to its end, with the edits between. */
function live(
  random: Random,
  { name, from, until }: { readonly name: string; readonly from: number; readonly until: number },
  add: (at: number, step: Omit<Step, 'at'>) => void,
): void {
  const kind = random.one(['rare', 'rare', 'daily', 'daily', 'hourly', 'busy'] as const);
  const length = Math.min(lengths[kind], until - from);
  let at = from + random.whole(1, (until - from - length) / second + 60) * second;
  const end = at + length;
  let spec = specOf(random, kind);
  add(at, { do: 'apply', name, spec });
  for (let edits = random.whole(0, 8); edits > 0; edits--) {
    at += random.whole(1, length / 8 / second) * second;
    if (at >= end) return;
    const act = random.fraction();
    if (act < 0.15) add(at, { do: 'runNow', name });
    else if (act < 0.25) {
      add(at, { do: 'delete', name });
      at += random.one([20 * second, 10 * minute, 2 * day]);
      spec = specOf(random, kind);
      add(at, { do: 'apply', name, spec });
    } else {
      spec = { ...spec, ...changeOf(random, kind) };
      add(at, { do: 'apply', name, spec });
    }
  }
  // What comes often would outweigh all else if it lived for the whole year.
  if (kind === 'busy' || kind === 'hourly') add(end, { do: 'delete', name });
}

function specOf(random: Random, kind: keyof typeof schedules): object {
  const schedule = random.one(schedules[kind]);
  return {
    schedule,
    ...zoneOf(random, schedule),
    concurrencyPolicy: random.one(['Allow', 'Forbid', 'Forbid', 'Replace']),
    ...deadlineOf(random),
    successfulJobsHistoryLimit: random.one([0, 1, 3, 5]),
    failedJobsHistoryLimit: random.one([0, 1, 3]),
    jobTemplate: {
      spec: {
        backoffLimit: random.one([0, 0, 1, 2]),
        ...random.one([{}, {}, {}, { ttlSecondsAfterFinished: random.one([0, 60, 3_600]) }]),
        ...random.one([{}, {}, {}, { activeDeadlineSeconds: random.one([30, 900]) }]),
        template: { spec: { containers: [{ name: 'main', image: 'example/job:1' }] } },
      },
    },
  };
}

function changeOf(random: Random, kind: keyof typeof schedules): object {
  const schedule = random.one(schedules[kind]);
  return random.one([
    { schedule },
    { suspend: true },
    { suspend: false },
    { suspend: false },
    zoneOf(random, schedule),
    { concurrencyPolicy: random.one(['Allow', 'Forbid', 'Replace']) },
    deadlineOf(random),
    { successfulJobsHistoryLimit: random.one([0, 2, 4]) },
  ]);
}

const zoneOf = (random: Random, schedule: string): object =>
  schedule.startsWith('@every') ? {} : { timeZone: random.one(zones) };

/** `@every` with a deadline counts anew after each pause, which its Jobs alone tell; it has none here. */
const deadlineOf = (random: Random): object => ({
  startingDeadlineSeconds: random.one([undefined, undefined, 15, 45, 200, 900, 7_200]),
});

function runsOf(random: Random): { seconds: number; succeeded: boolean }[] {
  const lengths = random.one([[5], [20, 40], [90, 600], [30, 30, 4_000], [2_000], [400, 9_000], [50, 100_000]]);
  return lengths.flatMap((seconds) =>
    Array.from({ length: random.whole(1, 4) }, () => ({ seconds, succeeded: random.chance(0.75) })),
  );
}
