import {
  type DetectionFacts,
  type Instant,
  isEdge,
  type Judged,
  judgedKinds,
  levelsAcross,
  type LevelsByRules,
  levelsPassed,
  type Part,
  partOf,
  type PassedLevel,
} from '@cronjob-monitor/shared/domain';
import type { DueWish, JudgedRunRow } from '@cronjob-monitor/shared/store';
import type { AlertType } from '@cronjob-monitor/shared/contract';
import type { PastFacts } from './past-facts.ts';
import { isNewsTo, type Subject, type Watch } from './subject.ts';

/** The scheduler of a part has asked about everything up to then; undefined: it never ran. */
export type JudgedThrough = (part: Part) => Instant | undefined;

/** A pass asks again about the last two minutes before the previous one: their news may have arrived late. */
const againMs = 120_000;

/** A level that ended before then is no news by its instant alone. */
export function settledThrough(parts: Iterable<Part>, judgedThroughAt: JudgedThrough): Instant {
  return Math.min(...[...parts].map((part) => (judgedThroughAt(part) ?? -Infinity) - againMs));
}

/** The facts of CronJobs and their past, as some rules ask for them. */
export interface GatheredFacts {
  readonly factsOf: (subject: Subject, watch: Watch) => DetectionFacts;
  readonly past: PastFacts;
}

/** The levels that one watch passed, judged by the rules in force then. */
export interface PastOfWatch {
  readonly levels: (
    subject: Subject,
    watch: Watch,
    now: { facts: DetectionFacts; judged: readonly Judged[] },
  ) => PassedLevel[];
  /** The ended runs that were read, newest first. */
  readonly runsOf: PastFacts['runsOf'];
}

/**
 * Gathers the past of these CronJobs so that the rules in force at each instant judge it. Where an edit changed rules and late news of the time
 * before it may have come, this gathers facts by the earlier rules too.
 */
export async function gatherAcross(
  subjects: readonly Subject[],
  parts: ReadonlySet<Part>,
  of: {
    readonly past: PastFacts;
    readonly judgedThroughAt: JudgedThrough;
    readonly gather: (subjects: readonly Subject[], parts: ReadonlySet<Part>) => Promise<GatheredFacts>;
    /** The answers of now. */
    readonly judge: (subject: Subject, watch: Watch, facts: DetectionFacts) => readonly Judged[];
  },
): Promise<PastOfWatch> {
  const { past, judgedThroughAt, gather, judge } = of;
  const asBefore = new Map<Watch, Watch>();
  const changedOf = new Map<Subject, Subject>();
  for (const subject of subjects) {
    for (const watch of subject.watches)
      if (watch.earlier) asBefore.set(watch, { ...watch, rules: watch.earlier.rules, earlier: watch.earlier.earlier });
    const watches = subject.watches.flatMap((watch) => asBefore.get(watch) ?? []);
    if (watches.length > 0) changedOf.set(subject, { ...subject, watches });
  }
  const changes = [...asBefore.keys()].flatMap(({ earlier }) => earlier?.untilAt ?? []);
  const asked = [...parts].filter(
    (part) => partsOfLevels.has(part) && Math.max(...changes) >= settledThrough([part], judgedThroughAt),
  );
  const isAsked = changedOf.size > 0 && asked.length > 0;
  const before = isAsked ? await gather([...changedOf.values()], new Set(asked)) : undefined;
  // The rules may have been edited more than once: the same again for those before the earlier ones.
  const pastBefore = before && (await gatherAcross([...changedOf.values()], parts, { ...of, past: before.past }));

  const levelsBefore = (subject: Subject, watch: Watch): LevelsByRules => {
    const [changed, earlier] = [changedOf.get(subject), asBefore.get(watch)];
    if (before === undefined || pastBefore === undefined || changed === undefined || earlier === undefined)
      return { passed: [], judged: [] };
    const facts = before.factsOf(changed, earlier);
    const judged = judge(changed, earlier, facts);
    return { passed: pastBefore.levels(changed, earlier, { facts, judged }), judged };
  };
  return {
    runsOf: (subject) => {
      const runs = past.runsOf(subject);
      return runs.length > 0 ? runs : (before?.past.runsOf(subject) ?? []);
    },
    levels: (subject, watch, { facts, judged }) => {
      const passed = levelsPassed(watch.rules.detection, past.of(subject, watch, facts), watch.judgesFromAt);
      return watch.earlier
        ? levelsAcross(levelsBefore(subject, watch), { passed, judged }, watch.earlier.untilAt)
        : passed;
    },
  };
}

/** Levels that began and ended before now and that no alert may have told yet: the run that ended them, or the instant of the end, is news. */
export function newLevels(
  {
    subject,
    watch,
    ...now
  }: {
    readonly subject: Subject;
    readonly watch: Watch;
    readonly facts: DetectionFacts;
    readonly judged: readonly Judged[];
  },
  past: PastOfWatch,
  isNews: (run: JudgedRunRow) => boolean,
  judgedThroughAt: JudgedThrough,
): readonly PassedLevel[] {
  const runs = past.runsOf(subject).filter(isNews);
  return past.levels(subject, watch, now).filter((level) => {
    const { by, endedAt } = level;
    const isNewEnd = isNewsTo(watch, endedAt) || endedAt > settledThrough([partOf(level)], judgedThroughAt);
    return isNewEnd || runs.some((run) => run.jobName === by?.jobName && run.endedAt === by.endedAt);
  });
}

/** The parts that each scheduler asks about (detection.md section 1). */
export const partsOf = {
  'dead-man-switch': ['missedSchedule', 'deadMan', 'suspended'],
  'stuck-job-check': ['stuck', 'durations', 'finishBy'],
  'sla-recalculation': ['successRate', 'regression', 'output'],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

/** The scheduler that asks about a part as time goes on; the dead-man's switch asks about failed runs too. */
export function schedulerOf(part: Part): keyof typeof partsOf {
  const names = Object.keys(partsOf) as (keyof typeof partsOf)[];
  return names.find((name) => (partsOf[name] as readonly Part[]).includes(part)) ?? 'dead-man-switch';
}

/** Types of alerts that this scheduler asks about. */
export function typesAskedBy(name: keyof typeof partsOf): AlertType[] {
  return [...new Set(judgedKinds.filter((kind) => schedulerOf(partOf(kind)) === name).map(({ type }) => type))];
}

export const allParts: ReadonlySet<Part> = new Set<Part>([
  'jobFailed',
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  ...partsOf['sla-recalculation'],
]);

/** Parts whose alerts are levels: one that began and ended unseen is told afterwards. */
export const partsOfLevels: ReadonlySet<Part> = new Set<Part>([
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  'output',
  'successRate',
]);

/** Kinds of rows of `due` that verdicts write; the ledger writes those of slots. */
const dueKinds = { 'dead-man-switch': 'presence', 'stuck-job-check': 'finishBy' } as const;

/**
 * The instants at which each monitor's verdicts may change by time alone. Runs that go on need no rows: they are few, and each tick walks them
 * in memory. `forgetAt`: when the monitor forgets a group of Jobs.
 */
export function dueWishesOf(
  of: { readonly cronJobId: number; readonly monitorId: number },
  judged: readonly Judged[],
  parts: ReadonlySet<Part>,
  forgetAt?: Instant,
): DueWish[] {
  const wishes: DueWish[] = [];
  if (parts.has('deadMan')) {
    const changesAt = earliest(judged.filter(({ type }) => ofPresence.includes(type)));
    const at = Math.min(changesAt ?? Infinity, forgetAt ?? Infinity);
    wishes.push({ ...of, kind: dueKinds['dead-man-switch'], at: at === Infinity ? undefined : at });
  }
  if (parts.has('finishBy')) {
    wishes.push({
      ...of,
      kind: dueKinds['stuck-job-check'],
      at: earliest(judged.filter(({ subject }) => subject === 'finishBy')),
    });
  }
  return wishes;
}

/** What did not come is counted by the ledger; all else that the tick asks about is a matter of time. */
const ofPresence = typesAskedBy('dead-man-switch').filter((type) => !isEdge(type));

function earliest(judged: readonly Judged[]): Instant | undefined {
  const instants = judged.flatMap(({ verdict }) => (verdict.kind === 'holds' ? [] : (verdict.dueAt ?? [])));
  return instants.length === 0 ? undefined : Math.min(...instants);
}
