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

/** Who asks for what (detection.md section 1). */
export const partsOf = {
  'dead-man-switch': ['missedSchedule', 'deadMan', 'suspended'],
  'stuck-job-check': ['stuck', 'durations', 'finishBy'],
  'sla-recalculation': ['successRate', 'regression', 'output'],
} as const satisfies Readonly<Record<string, readonly Part[]>>;

/** Who asks for a part as time goes on; what failed is asked with what did not come. */
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

/** Those of which a level that has passed may be told. */
export const partsOfLevels: ReadonlySet<Part> = new Set<Part>([
  ...partsOf['dead-man-switch'],
  ...partsOf['stuck-job-check'],
  'output',
  'successRate',
]);

/** Kinds of rows of `due` that verdicts ask for; that of slots belongs to the ledger. */
const dueKinds = { 'dead-man-switch': 'presence', 'stuck-job-check': 'finishBy' } as const;

/**
 * When each monitor's verdicts may change by time alone. Runs that go on are no rows here: they are in memory, few, and looked through
 * at each tick. `forgetAt`: when what is open about a group of Jobs is let go.
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
