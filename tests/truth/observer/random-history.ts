import {
  dayMs,
  hourMs,
  minuteMs,
  secondMs,
  type CronJobEdit,
  type CronJobStory,
  type Fate,
  type GroupStory,
  type History,
  type MonitorStory,
  type NamespaceStory,
  type Rhythm,
  type RunStory,
} from './history.ts';
import { slotsOf, weekHours } from './kubernetes.ts';
import { Random } from './random.ts';

const startAt = Date.UTC(2026, 10, 21);
/** At its end nothing new happens for so long: what is told late has been told by then. */
export const tailMs = 2 * hourMs;

/** How large a history is made. */
export interface Size {
  /** Parts of the cluster that have nothing to do with each other, each with namespaces and monitors of its own. */
  readonly cells: number;
  /** Of each cell. */
  readonly cronJobs: number;
  readonly days: number;
  /** Monitors ask for more as time goes on. Absent: as what once failed was played. */
  readonly editsRules?: boolean | undefined;
  /** Owners say by annotations how their CronJobs are judged, and later something else. Absent: as above. */
  readonly editsWords?: boolean | undefined;
  /** Jobs without a CronJob run as well. Absent: as above. */
  readonly hasGroups?: boolean | undefined;
  /** Most CronJobs run once a week, and what monitors allow fits that: many can be watched for long. Absent: as above. */
  readonly isQuiet?: boolean | undefined;
}

/**
 * The lives of a cluster. In one of many cells, and in a quiet one, things happen together, as schedules of people do: runs begin at quarters
 * of an hour, or at hours, and most
 * last as long as others do, so that a pass of the service judges many CronJobs. In one of a single cell they happen at any second.
 */
export function randomHistory(
  seed: number,
  { cells, cronJobs, days, editsRules, editsWords, hasGroups, isQuiet = false }: Size,
): History {
  const endAt = startAt + days * dayMs;
  const lives = Array.from({ length: cells }, (_, cell) => {
    const life = withOutputAndExpectations(
      randomCell(new Random(seed, cell), { cell, cronJobs, endAt, isCrowded: cells > 1 || isQuiet, isQuiet }),
      // Of its own: what once failed is played as it was.
      new Random(seed, 1_000_000 + cell),
      endAt,
    );
    const edited = editsRules ? withEditedRules(life, new Random(seed, 2_000_000 + cell), endAt, isQuiet) : life;
    const said = editsWords ? withEditedWords(edited, new Random(seed, 4_000_000 + cell), endAt) : edited;
    return hasGroups ? withGroups(said, new Random(seed, 3_000_000 + cell), endAt) : said;
  });
  return {
    seed,
    startAt,
    endAt,
    namespaces: lives.map(({ namespace }) => namespace),
    cronJobs: lives.flatMap((life) => life.cronJobs),
    monitors: lives.flatMap((life) => life.monitors),
    ...(hasGroups && { groups: lives.flatMap(({ groups }) => groups) }),
  };
}

/** Which cell a namespace belongs to. */
export function cellOf(namespace: string): string {
  return namespace.slice(namespace.lastIndexOf('-') + 1);
}

/** Every so many hours. */
const rhythms = [1, 4, 6, 12, 24, 24, 24, 24, 24, weekHours, weekHours, weekHours];
/** As in a large cluster: of 30 CronJobs one runs each hour, one each six and one each twelve; the others each day or each week. */
const rhythmsOfACrowd = [1, 6, 12, ...Array<number>(12).fill(24), ...Array<number>(15).fill(weekHours)];
/** Of 100 CronJobs two run several times a day and eight each day; the others each week. */
const quietRhythms = [6, 12, ...Array<number>(8).fill(24), ...Array<number>(90).fill(weekHours)];

/** How long a monitor lets a CronJob be without a success. */
const silences = { usual: ['3h', '26h', '50h'], quiet: ['200h', '200h', '400h'] } as const;

interface Cell {
  readonly namespace: NamespaceStory;
  readonly cronJobs: readonly CronJobStory[];
  readonly monitors: readonly MonitorStory[];
  readonly groups: readonly GroupStory[];
}

function randomCell(
  chance: Random,
  size: Pick<Size, 'cronJobs'> & {
    readonly cell: number;
    readonly endAt: number;
    readonly isCrowded: boolean;
    readonly isQuiet: boolean;
  },
): Cell {
  const { cell, endAt, isCrowded, isQuiet } = size;
  const [prod, team, ops] = [`prod-${cell}`, `team-${cell}`, `ops-${cell}`];
  const grainMs = isCrowded ? 5 * minuteMs : secondMs;
  const within = (from: number, to: number): number =>
    chance.whole(Math.ceil(from / grainMs), Math.max(Math.ceil(from / grainMs), Math.floor(to / grainMs))) * grainMs;
  const quietAt = endAt - tailMs;
  const cronJobs: CronJobStory[] = [];
  for (let number = 0; number < size.cronJobs; number++) {
    const namespace = chance.chance(0.75) ? prod : team;
    const first = aCronJob(
      `job-${number}`,
      namespace,
      chance.chance(0.6) ? startAt - 10 * dayMs : within(startAt, quietAt - 6 * hourMs),
    );
    cronJobs.push(first);
    if (first.deletedAt !== undefined && chance.chance(0.5))
      cronJobs.push(aCronJob(first.name, namespace, first.deletedAt + seconds(1, 3_600) * secondMs));
  }
  return {
    namespace: { name: team, letsIn: ops, consents: consents() },
    cronJobs: cronJobs.filter(({ createdAt }) => createdAt < quietAt),
    monitors: ['everything', 'by-tier', 'across'].flatMap(monitors).filter(({ createdAt }) => createdAt < quietAt),
    groups: [],
  };

  /** Of a length; crowds have few. */
  function seconds(from: number, to: number): number {
    if (!isCrowded) return chance.whole(from, to);
    const usual = [1, 2, 20, 60, 60, 300, 900, 3_600, 10_800, 43_200, 86_400].filter((one) => one >= from && one <= to);
    return usual.length > 0 ? chance.pick(usual) : to;
  }

  function consents() {
    const isIn = chance.chance(0.5);
    const first = { at: startAt - 5 * dayMs, isIn };
    return chance.chance(0.6) ? [first, { at: within(startAt + hourMs, quietAt - hourMs), isIn: !isIn }] : [first];
  }

  function aRhythm(): Rhythm {
    const everyHours = chance.pick(isQuiet ? quietRhythms : isCrowded ? rhythmsOfACrowd : rhythms);
    const grain = isQuiet ? 60 : isCrowded ? 15 : 1;
    return { everyHours, minute: chance.whole(0, (everyHours < 24 ? 60 : everyHours * 60) / grain - 1) * grain };
  }

  function aCronJob(name: string, namespace: string, madeAt: number): CronJobStory {
    let createdAt = madeAt;
    const rhythm = aRhythm();
    // Half of those that are made are made shortly before a run, which then ends badly at once.
    const isMade = createdAt >= startAt && chance.chance(0.5);
    const firstSlotAt = isMade ? slotsOf(rhythm, createdAt + minuteMs, quietAt)[0] : undefined;
    if (firstSlotAt !== undefined) createdAt = firstSlotAt - seconds(1, 50) * secondMs;
    const deletedAt = chance.chance(0.15) ? within(Math.max(createdAt, startAt) + hourMs, quietAt) : undefined;
    const edits: CronJobEdit[] = [];
    const suspend = chance.chance(0.05);
    if (chance.chance(0.2)) {
      const at = within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt);
      edits.push({ at, suspend: !suspend });
      if (chance.chance(0.6)) edits.push({ at: within(at + minuteMs, quietAt + minuteMs), suspend });
    }
    if (chance.chance(0.15))
      edits.push({ at: within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt), tier: chance.pick(['a', 'b']) });
    if (chance.chance(0.1))
      edits.push({ at: within(Math.max(createdAt, startAt) + 30 * minuteMs, quietAt), rhythm: aRhythm() });
    const health = chance.pick(isCrowded ? [0, 0.01, 0.03, 0.3] : [0.02, 0.1, 0.3, 0.9]);
    const from = Math.max(createdAt, startAt - dayMs);
    const played = [rhythm, ...edits.flatMap((edit) => edit.rhythm ?? [])];
    const slots = [...new Set(played.flatMap((one) => slotsOf(one, from, endAt)))].sort((a, b) => a - b);
    return {
      uid: chance.uuid(),
      namespace,
      name,
      tier: chance.pick(['a', 'b']),
      rhythm,
      policy: chance.pick(['Allow', 'Forbid', 'Forbid', 'Replace'] as const),
      suspend,
      ttlSeconds: chance.pick([undefined, undefined, undefined, 0, 60, 3_600, 86_400]),
      successLimit: chance.pick([0, 1, 3, 3, 100]),
      failureLimit: chance.pick([1, 1, 3, 100]),
      createdAt: createdAt < startAt ? startAt - 10 * dayMs : createdAt,
      deletedAt,
      edits: edits.sort((a, b) => a.at - b.at),
      runs: slots.flatMap((slotAt): RunStory[] => {
        if (slotAt === firstSlotAt) return [{ slotAt, fate: 'failure', seconds: seconds(1, 3), exitCode: 1 }];
        return chance.chance(health) ? [aRun(slotAt, rhythm)] : [];
      }),
    };
  }

  function aRun(slotAt: number, rhythm: Rhythm): RunStory {
    const fate: Fate = chance.pick([
      'success',
      'failure',
      'failure',
      'failure',
      'outOfMemory',
      'deadline',
      'deleted',
      'neverStarted',
    ]);
    const isLong = chance.chance(0.15);
    const length = isLong ? seconds(600, Math.floor(rhythm.everyHours * 3_600 * 1.5)) : seconds(1, 300);
    return { slotAt, fate, seconds: length, exitCode: chance.whole(1, 4) };
  }

  function monitors(name: string): MonitorStory[] {
    const createdAt = chance.chance(0.7) ? startAt - 5 * dayMs : within(startAt, quietAt - 6 * hourMs);
    const deletedAt = chance.chance(0.3) ? within(Math.max(createdAt, startAt) + hourMs, quietAt - hourMs) : undefined;
    const first = aMonitor(name, createdAt, deletedAt);
    if (deletedAt === undefined || chance.chance(0.2)) return [first];
    const awaySeconds = chance.chance(0.5) ? seconds(1, 540) : seconds(700, 10_000);
    return [
      first,
      {
        ...aMonitor(name, deletedAt + awaySeconds * secondMs, undefined),
        ...(chance.chance(0.7) && { spec: first.spec }),
      },
    ];
  }

  function aMonitor(name: string, createdAt: number, deletedAt: number | undefined): MonitorStory {
    const spec = {
      ...selectorOf(name),
      jobFailed: { failureThreshold: chance.pick([1, 1, 1, 2]) },
      ...(chance.chance(0.3) && {
        deadManSwitch: { maxTimeSinceLastSuccess: chance.pick(silences[isQuiet ? 'quiet' : 'usual']) },
      }),
      ...(chance.chance(0.3) && { sla: { minSuccessRate: 0, maxDuration: '20m', durationRegressionThreshold: 0 } }),
      ...(chance.chance(0.3) && { suspendedHandling: { alertIfSuspendedFor: '2h' } }),
      ...(chance.chance(0.3) && { alerting: { alertDelay: chance.pick(['1m', '10m']) } }),
    };
    const respecAt = within(Math.max(createdAt, startAt) + hourMs, quietAt - hourMs);
    const isEdited = chance.chance(0.2) && respecAt < (deletedAt ?? endAt);
    const edits = isEdited ? [{ at: respecAt, spec: { ...spec, jobFailed: { failureThreshold: 1 } } }] : [];
    return {
      uid: chance.uuid(),
      namespace: name === 'across' ? ops : prod,
      name,
      spec,
      createdAt,
      deletedAt,
      edits,
    };
  }

  function selectorOf(name: string): object {
    if (name === 'by-tier') return { selector: { matchLabels: { tier: 'a' } } };
    if (name === 'across') return { selector: { namespaces: [team] } };
    return {};
  }
}

/** Some CronJobs say what they wrote, now and then nothing; some monitors judge that, and expect CronJobs to be there. */
function withOutputAndExpectations(
  { namespace, cronJobs, monitors, groups }: Cell,
  chance: Random,
  endAt: number,
): Cell {
  return {
    namespace,
    groups,
    cronJobs: cronJobs.map((story) => {
      if (chance.chance(0.5)) return story;
      const known = new Set(story.runs.map(({ slotAt }) => slotAt));
      const empty = slotsOf(story.rhythm, Math.max(story.createdAt, startAt - dayMs), endAt)
        .filter((slotAt) => !known.has(slotAt) && chance.chance(0.2))
        .map((slotAt): RunStory => ({ slotAt, fate: 'success', seconds: 60, exitCode: 0, rows: 0 }));
      const runs = [...story.runs, ...empty].sort((a, b) => a.slotAt - b.slotAt);
      return { ...story, tellsRows: true, runs };
    }),
    monitors: monitors.map((monitor) => {
      const names = cronJobs.filter(() => chance.chance(0.3)).map((story) => `${story.namespace}/${story.name}`);
      const more = {
        ...(chance.chance(0.5) && { output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } }),
        ...(chance.chance(0.5) && {
          expects: chance.chance(0.5) ? { seen: true } : { names: [...new Set(names)], seen: names.length === 0 },
        }),
      };
      const edits = monitor.edits.map(({ at, spec }) => ({ at, spec: { ...spec, ...more } }));
      return { ...monitor, spec: { ...monitor.spec, ...more }, edits };
    }),
  };
}

/** What monitors come to ask for, each instead of what they asked before: nothing of the kind, or less. */
const addedRules = ([short, long]: readonly string[]): readonly (readonly [before: object, after: object])[] => [
  [{ deadManSwitch: undefined }, { deadManSwitch: { maxTimeSinceLastSuccess: short } }],
  [{ deadManSwitch: { enabled: false } }, { deadManSwitch: { maxTimeSinceLastSuccess: long } }],
  [{ deadManSwitch: { maxTimeSinceLastSuccess: long } }, { deadManSwitch: { maxTimeSinceLastSuccess: short } }],
  [{ sla: undefined }, { sla: { minSuccessRate: 0, maxDuration: '20m', durationRegressionThreshold: 0 } }],
  [{ suspendedHandling: undefined }, { suspendedHandling: { alertIfSuspendedFor: '1h' } }],
  [{ output: undefined }, { output: { assertions: [{ name: 'rows', fact: 'rows', min: 1 }] } }],
  [{ jobFailed: { enabled: false } }, { jobFailed: { failureThreshold: 1 } }],
  [{ jobFailed: { failureThreshold: 2 } }, { jobFailed: { failureThreshold: 1 } }],
  [{ stuckJobs: { enabled: false } }, { stuckJobs: { enabled: true } }],
  [{ missedSchedule: { enabled: false } }, { missedSchedule: { enabled: true } }],
];

/** Half of the monitors that stay as they are begin to ask for more. */
function withEditedRules(cell: Cell, chance: Random, endAt: number, isQuiet: boolean): Cell {
  const rules = addedRules([...new Set(silences[isQuiet ? 'quiet' : 'usual'])]);
  return {
    ...cell,
    monitors: cell.monitors.map((monitor) => {
      const from = Math.ceil((Math.max(monitor.createdAt, startAt) + hourMs) / secondMs);
      const to = Math.floor(((monitor.deletedAt ?? endAt) - tailMs - hourMs) / secondMs);
      if (monitor.edits.length > 0 || from >= to || chance.chance(0.3)) return monitor;
      const added = [chance.pick(rules), chance.pick(rules)];
      const [before, after] = [0, 1].map((side) => Object.assign({}, ...added.map((rule) => rule[side])) as object);
      return {
        ...monitor,
        spec: { ...monitor.spec, ...before },
        edits: [{ at: chance.whole(from, to) * secondMs, spec: { ...monitor.spec, ...after } }],
      };
    }),
  };
}

/** What owners say, and what they come to say: the word stays, for of one that is taken away nothing tells when that was. */
const editedWords: readonly (readonly [before: Words, after: Words])[] = [
  [{ 'max-duration': '2h' }, { 'max-duration': '10m' }],
  [{ 'max-duration': '10m' }, { 'max-duration': '2h' }],
  [{ 'max-duration': 'off' }, { 'max-duration': '5m' }],
  [{ 'finish-by': 'off' }, { 'finish-by': '06:30' }],
  [{ 'finish-by': '06:30' }, { 'finish-by': '18:00' }],
  [{ grace: '1h' }, { grace: '1m' }],
  [
    { grace: '1m', 'max-duration': '20m' },
    { grace: '30m', 'max-duration': 'off' },
  ],
];
type Words = NonNullable<CronJobStory['words']>;

/** Half of the owners that say something say another thing later, and so does one namespace in two. */
function withEditedWords(cell: Cell, chance: Random, endAt: number): Cell {
  const cronJobs = cell.cronJobs.map((story): CronJobStory => {
    const from = Math.ceil((Math.max(story.createdAt, startAt) + hourMs) / secondMs);
    const to = Math.floor(((story.deletedAt ?? endAt) - tailMs - hourMs) / secondMs);
    if (from >= to || chance.chance(0.5)) return story;
    const [words, later] = chance.pick(editedWords);
    const edits = chance.chance(0.5) ? [{ at: chance.whole(from, to) * secondMs, words: later }] : [];
    return { ...story, words, edits: [...story.edits, ...edits].sort((a, b) => a.at - b.at) };
  });
  const [before, after] = chance.pick(editedWords);
  const at = chance.whole((startAt + hourMs) / secondMs, Math.floor((endAt - tailMs - hourMs) / secondMs)) * secondMs;
  const words = chance.chance(0.5)
    ? [
        { at: startAt - 5 * dayMs, words: before },
        { at, words: after },
      ]
    : undefined;
  return { ...cell, cronJobs, namespace: { ...cell.namespace, words } };
}

/** Hooks and scripts run now and then in the namespaces of the cell, and half of its monitors judge them. */
function withGroups(cell: Cell, chance: Random, endAt: number): Cell {
  const namespaces = [...new Set(cell.cronJobs.map(({ namespace }) => namespace))];
  const groups = namespaces.flatMap((namespace) => ['migrate', 'seed'].map((name) => aGroup(name, namespace)));
  const monitors = cell.monitors.map((monitor) => {
    if (chance.chance(0.5)) return monitor;
    const jobs = { matchLabels: { hook: 'yes' }, ...(chance.chance(0.5) && { forgetAfter: '4h' }) };
    const edits = monitor.edits.map(({ at, spec }) => ({ at, spec: { ...spec, jobs } }));
    return { ...monitor, spec: { ...monitor.spec, jobs }, edits };
  });
  return { ...cell, groups, monitors };

  function aGroup(name: string, namespace: string): GroupStory {
    const health = chance.pick([0.2, 0.5, 0.9]);
    const runs: RunStory[] = [];
    const lastAt = endAt - tailMs;
    for (let slotAt = startAt - 5 * hourMs; ;) {
      slotAt += chance.whole(60, 6 * 3_600) * secondMs;
      if (slotAt >= lastAt)
        return { uid: chance.uuid(), namespace, name, ttlSeconds: chance.pick([undefined, 60, 86_400]), runs };
      const bad: Fate = chance.pick(['failure', 'failure', 'outOfMemory', 'deadline', 'deleted']);
      const fate = chance.chance(health) ? bad : 'success';
      const seconds = chance.chance(0.2) ? chance.whole(600, 3_000) : chance.whole(1, 300);
      runs.push({ slotAt, fate, seconds, exitCode: chance.whole(1, 4) });
      slotAt += seconds * secondMs;
    }
  }
}
