import type { AlertSubject, AlertType } from '../../contract/index.ts';
import type { Instant } from '../instant.ts';
import { type DeadManFacts, type DeadManRule, deadManTriggered, neverSucceeded } from './dead-man.ts';
import { type DurationFacts, type DurationLimitsRule, endedTooSoon, tookTooLong } from './duration-limits.ts';
import {
  durationRegression,
  type DurationRegressionFacts,
  type DurationRegressionRule,
} from './duration-regression.ts';
import { type FinishByFacts, type FinishByRule, notFinishedBy } from './finish-by.ts';
import { jobFailed, type JobFailedFacts, type JobFailedRule } from './job-failed.ts';
import { jobStuck, type JobStuckFacts, type JobStuckRule, jobSuspended } from './job-stuck.ts';
import { missedSchedule, type MissedScheduleFacts, type MissedScheduleRule } from './missed-schedule.ts';
import { successRateBelow, type SuccessRateFacts, type SuccessRateRule } from './success-rate.ts';
import { outputBroken, type OutputHistory, type OutputRule } from './output.ts';
import { quiet, undecided, type Verdict } from './verdict.ts';

/** What one monitor asks of its CronJobs. Undefined: it asks for none of that. */
export interface DetectionRules {
  readonly jobFailed: JobFailedRule;
  readonly missedSchedule: MissedScheduleRule & { readonly graceMs: number };
  readonly deadMan: DeadManRule | undefined;
  readonly durations: DurationLimitsRule | undefined;
  readonly successRate: (SuccessRateRule & { readonly countMissed: boolean }) | undefined;
  readonly finishBy: FinishByRule | undefined;
  readonly regression: DurationRegressionRule | undefined;
  readonly output: OutputRule | undefined;
  readonly stuck: {
    readonly notStarted: JobStuckRule | undefined;
    readonly overrunning: JobStuckRule | undefined;
    readonly terminating: JobStuckRule | undefined;
  };
  readonly suspended: { readonly alertIfSuspendedForMs: number | undefined };
  readonly pauseMonitoring: boolean;
}

/**
 * What is known of one CronJob as one monitor sees it. A part that was not gathered is undefined, and what needs it is not asked: a
 * run that ended asks other questions than the clock does.
 */
export interface DetectionFacts {
  readonly missedSchedule?: MissedScheduleFacts | undefined;
  readonly deadMan?: DeadManFacts | undefined;
  readonly stuck?: JobStuckFacts | undefined;
  readonly durations?: DurationFacts | undefined;
  readonly successRate?: SuccessRateFacts | undefined;
  readonly finishBy?: FinishByFacts | undefined;
  readonly regression?: DurationRegressionFacts | undefined;
  readonly output?: OutputHistory | undefined;
  readonly jobFailed?: JobFailedFacts | undefined;
  readonly suspended?: { readonly suspendedSinceAt: Instant | undefined } | undefined;
}

/** One kind of facts: what is not wanted is not gathered, and its questions are not asked. */
export type Part = keyof DetectionFacts;

/** One link's answer. */
export interface Judged {
  readonly type: AlertType;
  readonly subject: AlertSubject | undefined;
  readonly verdict: Verdict;
}

interface Link {
  readonly type: AlertType;
  readonly subject?: AlertSubject;
  /** The facts that decide about it. */
  readonly part: Part;
  /** `now`: of what is absent, no later than it can be known. */
  readonly judge: (rules: DetectionRules, facts: DetectionFacts, now: Instant) => Verdict | undefined;
  /** It concludes from what did not come, or, `goesOn`, from what went on when it was seen last. */
  readonly ofAbsence?: true | 'goesOn';
}

const off = quiet('notConfigured');

/**
 * Every question in its order: what is cause stands before what is its later sign, so that the later one finds the cause already known
 * (detection.md section 4). A finished run is the first sign of all.
 */
const chain: readonly Link[] = [
  {
    type: 'jobFailed',
    part: 'jobFailed',
    judge: (rules, { jobFailed: facts }) => facts && jobFailed(rules.jobFailed, facts),
  },
  {
    type: 'missedSchedule',
    part: 'missedSchedule',
    judge: (rules, { missedSchedule: facts }) => facts && missedSchedule(rules.missedSchedule, facts),
  },
  {
    type: 'deadManTriggered',
    part: 'deadMan',
    ofAbsence: true,
    judge: ({ deadMan }, { deadMan: facts }, now) => facts && (deadMan ? deadManTriggered(deadMan, facts, now) : off),
  },
  { type: 'jobStuck', subject: 'notStarted', part: 'stuck', ofAbsence: 'goesOn', judge: stuckIn('notStarted') },
  { type: 'jobStuck', subject: 'terminating', part: 'stuck', ofAbsence: 'goesOn', judge: stuckIn('terminating') },
  {
    type: 'slaBreached',
    subject: 'maxDuration',
    part: 'durations',
    ofAbsence: 'goesOn',
    judge: ({ durations }, { durations: facts }, now) =>
      facts && (durations ? tookTooLong(durations, facts, now) : off),
  },
  // Behind the limit that was promised: it is the same run, and the promise comes first.
  { type: 'jobStuck', subject: 'overrunning', part: 'stuck', ofAbsence: 'goesOn', judge: stuckIn('overrunning') },
  // Behind what may be its cause.
  {
    type: 'absent',
    subject: 'neverSucceeded',
    part: 'deadMan',
    ofAbsence: true,
    judge: ({ deadMan }, { deadMan: facts }, now) => facts && (deadMan ? neverSucceeded(deadMan, facts, now) : off),
  },
  {
    type: 'slaBreached',
    subject: 'minDuration',
    part: 'durations',
    judge: ({ durations }, { durations: facts }) => facts && (durations ? endedTooSoon(durations, facts) : off),
  },
  {
    type: 'slaBreached',
    subject: 'successRate',
    part: 'successRate',
    judge: ({ successRate }, { successRate: facts }, now) =>
      facts && (successRate ? successRateBelow(successRate, facts, now) : off),
  },
  {
    type: 'slaBreached',
    subject: 'finishBy',
    part: 'finishBy',
    ofAbsence: true,
    judge: ({ finishBy }, { finishBy: facts }, now) => facts && (finishBy ? notFinishedBy(finishBy, facts, now) : off),
  },
  {
    type: 'slaBreached',
    subject: 'output',
    part: 'output',
    judge: ({ output }, { output: facts }) => facts && (output ? outputBroken(output, facts) : off),
  },
  {
    type: 'durationRegression',
    part: 'regression',
    judge: ({ regression }, { regression: facts }, now) =>
      facts && (regression ? durationRegression(regression, facts, now) : off),
  },
  {
    type: 'jobSuspended',
    part: 'suspended',
    ofAbsence: 'goesOn',
    judge: ({ suspended }, { suspended: facts }, now) => facts && jobSuspended(suspended, facts, now),
  },
];

function stuckIn(subject: 'notStarted' | 'overrunning' | 'terminating'): Link['judge'] {
  return ({ stuck }, { stuck: facts }, now) => {
    const rule = stuck[subject];
    return facts && (rule ? jobStuck(subject, rule, facts, now) : off);
  };
}

/** Every type and subject that can be judged, in the order of the chain. */
export const judgedKinds: readonly Pick<Judged, 'type' | 'subject'>[] = chain.map(({ type, subject }) => ({
  type,
  subject,
}));

/** The facts that decide about an alert. Of a subject that the chain does not judge, such as `disappeared`: those of its type. */
export function partOf({ type, subject }: Pick<Judged, 'type' | 'subject'>): Part {
  const ofType = chain.filter((link) => link.type === type);
  const link = ofType.find((one) => one.subject === subject) ?? ofType[0];
  if (!link) throw new Error(`no link of the chain judges the type ${type}`);
  return link.part;
}

/** Bookmarks come about every minute: only after a longer silence what went on may be over. */
const usualSilenceMs = 90_000;

/**
 * Asks every question for which there are facts. The same for a run that ended, a tick, a recheck and a preview. `freshThroughAt`:
 * nothing is known beyond it of what did not come, so such a verdict waits. So does one about what goes on, once the cluster has been silent
 * for so long that its end may be missing.
 */
export function judge(
  rules: DetectionRules,
  facts: DetectionFacts,
  now: Instant,
  freshThroughAt: Instant = now,
): Judged[] {
  const horizon = Math.min(now, freshThroughAt);
  const goingOn = now - horizon > usualSilenceMs ? horizon : now;
  return chain.flatMap(({ type, subject, ofAbsence, judge: ask }) => {
    const askedAt = ofAbsence === true ? horizon : ofAbsence === 'goesOn' ? goingOn : now;
    const then = ask(rules, facts, askedAt);
    if (then === undefined) return [];
    // What is over by the clock and not by what is known may hold or not: it opens nothing, and ends nothing that was proved before.
    const isOpenQuestion = then.kind === 'quiet' && askedAt < now && ask(rules, facts, now)?.kind === 'holds';
    return [{ type, subject, verdict: isOpenQuestion ? undecided('notKnownYet', then.dueAt) : then }];
  });
}
