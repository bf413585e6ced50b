import {
  type DetectionFacts,
  type Instant,
  type Judged,
  levelsAcross,
  type LevelsByRules,
  levelsPassed,
  type Part,
  partOf,
  type PassedLevel,
} from '@cronjob-monitor/shared/domain';
import type { JudgedRunRow } from '@cronjob-monitor/shared/store';
import type { PastFacts } from './past-facts.ts';
import { partsOf } from './asked-parts.ts';
import { isNewsTo, type Subject, type Watch } from './subject.ts';

/** The scheduler of a part has asked about everything up to then; undefined: it never ran. */
export type JudgedThrough = (part: Part) => Instant | undefined;

/** A pass asks again about the last two minutes before the previous one: their news may have arrived late. */
const againMs = 120_000;

/** Parts whose alerts are levels: one that began and ended unseen is told afterwards. */
const partsOfLevels: ReadonlySet<Part> = new Set<Part>([
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  'output',
  'successRate',
]);

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
