import {
  levelsAcross,
  levelsPassed,
  partOf,
  type DetectionFacts,
  type Instant,
  type Judged,
  type LevelsByRules,
  type Part,
  type PassedLevel,
} from '@cronjob-monitor/shared/domain';
import type { JudgedRunRow } from '@cronjob-monitor/shared/store';
import { partsOfLevels } from './part.ts';
import type { PastFacts } from './past-facts.ts';
import { isNewsTo, type Subject, type Watch } from './subject.ts';

/** Up to when everything that a part asks about was asked; undefined: nothing ever was. */
export type JudgedThrough = (part: Part) => Instant | undefined;

/** What was asked shortly before its end is asked again: news of it may have come a moment later. */
const againMs = 120_000;

/** Nothing that ended before is news by its instant. */
export function settledThrough(parts: Iterable<Part>, judgedThroughAt: JudgedThrough): Instant {
  return Math.min(...[...parts].map((part) => (judgedThroughAt(part) ?? -Infinity) - againMs));
}

/** The facts of CronJobs and their past, as some rules ask for them. */
export interface GatheredFacts {
  readonly factsOf: (subject: Subject, watch: Watch) => DetectionFacts;
  readonly past: PastFacts;
}

/** The past of one watch, by the rules in force and by those before them. */
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
 * The past of these CronJobs, of each instant by what was asked then. Where rules were changed and news of the time before may have come, the
 * facts are gathered by the earlier ones too.
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
  // What was asked before that, in the same way.
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

/** Levels that have passed and may be told by no alert: their end is news, by the run that ended them or by its instant. */
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
