import type { Instant } from '../instant.ts';
import type { DetectionRules, Judged } from './chain.ts';
import { type DeadManPast, deadMenPassed } from './dead-man.ts';
import { type DurationFacts, type EndedRun, hastePassed, overrunsPassed } from './duration-limits.ts';
import { deadlinesPassed, type FinishByFacts } from './finish-by.ts';
import { type JobStuckFacts, type PastJob, stuckPassed, suspensionsPassed, toldOnce } from './job-stuck.ts';
import { type MissedScheduleFacts, missesPassed } from './missed-schedule.ts';
import { type OutputHistory, outputPassed } from './output.ts';
import type { PassedLevel, Suspension } from './passed-level.ts';
import { type RatePast, ratesPassed } from './success-rate.ts';

/** What is known of the past of one CronJob. A part that was not gathered is undefined, and its levels are not asked for. */
export interface DetectionPast {
  readonly deadMan?: DeadManPast | undefined;
  readonly durations?:
    | {
        /** Scheduled runs in the order of their end. */
        readonly ended: readonly EndedRun[];
        readonly successes: readonly EndedRun[];
        readonly running: DurationFacts['running'];
        /** There are older runs than these. */
        readonly isCut?: boolean | undefined;
      }
    | undefined;
  readonly stuck?:
    | {
        readonly notStarted: readonly PastJob[];
        readonly overrunning: readonly PastJob[];
        readonly terminating: readonly PastJob[];
        readonly durations: Pick<JobStuckFacts, 'p99DurationMs' | 'runs'>;
      }
    | undefined;
  readonly output?: OutputHistory | undefined;
  readonly missedSchedule?: MissedScheduleFacts | undefined;
  readonly finishBy?: FinishByFacts | undefined;
  readonly suspensions?: readonly Suspension[] | undefined;
  readonly successRate?: RatePast | undefined;
}

/**
 * Every level of one CronJob that began and ended, as facts tell of it, in the order in which they began: what a service would have found
 * that had looked at every instant. What ended before `judgesFromAt` is history.
 */
export function levelsPassed(rules: DetectionRules, past: DetectionPast, judgesFromAt: Instant): PassedLevel[] {
  const { deadMan, durations, stuck, output, missedSchedule, finishBy, suspensions, successRate } = past;
  const passed = [
    ...(missedSchedule ? missesPassed(rules.missedSchedule, missedSchedule) : []),
    ...(deadMan && rules.deadMan ? deadMenPassed(rules.deadMan, deadMan) : []),
    ...(stuck ? stuckLevels(rules, stuck) : []),
    ...(durations && rules.durations
      ? overrunsPassed(rules.durations, durations.ended, durations.running, durations.isCut)
      : []),
    ...(durations && rules.durations ? hastePassed(rules.durations, durations.successes, durations.isCut) : []),
    ...(output && rules.output ? outputPassed(rules.output, output) : []),
    ...(finishBy && rules.finishBy ? deadlinesPassed(rules.finishBy, finishBy) : []),
    ...(successRate && rules.successRate ? ratesPassed(rules.successRate, successRate) : []),
    ...(suspensions ? suspensionsPassed(rules.suspended, suspensions) : []),
  ];
  return passed.filter(({ endedAt }) => endedAt >= judgesFromAt).sort((a, b) => a.verdict.since - b.verdict.since);
}

/** What some rules say of one CronJob: the levels that have passed, and the answers of now. */
export interface LevelsByRules {
  readonly passed: readonly PassedLevel[];
  readonly judged: readonly Judged[];
}

/**
 * Levels of a monitor whose rules were changed at an instant: of what was before it those that the earlier rules tell of, of what was after
 * it those of the later ones. What held by both at that instant is one level, which began as the earlier rules say; what the later ones
 * allow ended then.
 */
export function levelsAcross(earlier: LevelsByRules, later: LevelsByRules, changedAt: Instant): PassedLevel[] {
  const held = [...earlier.passed, ...goingOn(earlier.judged)].filter(
    ({ verdict, endedAt }) => verdict.since < changedAt && endedAt >= changedAt,
  );
  const after = later.passed.filter(({ endedAt }) => endedAt >= changedAt);
  const isOf = (level: Kind) => (one: Kind) => one.type === level.type && one.subject === level.subject;
  const loosened = held.flatMap((level): PassedLevel[] => {
    const now = later.judged.find(isOf(level))?.verdict;
    const goesOn = now?.kind === 'undecided' || (now?.kind === 'holds' && now.since <= changedAt);
    if (goesOn || after.some((one) => isOf(level)(one) && one.verdict.since < changedAt)) return [];
    const isAsked = now?.kind !== 'quiet' || now.reason !== 'notConfigured';
    return [{ ...level, endedAt: changedAt, by: undefined, cause: isAsked ? 'loosened' : 'notConfigured' }];
  });
  return [
    ...earlier.passed.filter(({ endedAt }) => endedAt < changedAt),
    ...loosened,
    ...after.map((level) => {
      const begun = level.verdict.since < changedAt ? held.find(isOf(level)) : undefined;
      if (begun === undefined) return level;
      return { ...level, beganAt: begun.beganAt, verdict: { ...level.verdict, since: begun.verdict.since } };
    }),
  ].sort((a, b) => a.verdict.since - b.verdict.since);
}

type Kind = Pick<PassedLevel, 'type' | 'subject'>;

/** What holds now, as levels without an end. */
function goingOn(judged: readonly Judged[]): PassedLevel[] {
  return judged.flatMap(({ type, subject, verdict }) =>
    verdict.kind === 'holds'
      ? [{ type, subject, verdict, beganAt: verdict.since - 1, endedAt: Infinity, by: undefined }]
      : [],
  );
}

function stuckLevels({ stuck: rules }: DetectionRules, stuck: NonNullable<DetectionPast['stuck']>): PassedLevel[] {
  const isOneOf = rules.notStarted && rules.overrunning;
  const jobs = { ...stuck, ...(isOneOf ? toldOnce(isOneOf, stuck, stuck.durations) : {}) };
  return (['notStarted', 'terminating', 'overrunning'] as const).flatMap((subject) => {
    const rule = rules[subject];
    return rule ? stuckPassed(subject, rule, jobs[subject], stuck.durations) : [];
  });
}
