import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Judged } from './chain.ts';
import { type DeadManPast, type DeadManRule, deadMenPassed } from './dead-man.ts';
import { type EndedRun, hastePassed, overrunsPassed } from './duration-limits.ts';
import { deadlinesPassed, type FinishByDay } from './finish-by.ts';
import { type JobStuckRule, type PastJob, stuckPassed, suspensionsPassed, toldOnce } from './job-stuck.ts';
import { levelsAcross } from './levels-passed.ts';
import { type JudgedSlot, missesPassed } from './missed-schedule.ts';
import { type RatePast, ratesPassed } from './success-rate.ts';
import { holds, quiet, undecided } from './verdict.ts';
import { firmly, type PassedLevel } from './passed-level.ts';

const minute = 60_000;
const hour = 60 * minute;

/** From when to when each lasted, in hours, and the run that ended it. */
const spans = (passed: readonly PassedLevel[]) =>
  passed.map(({ verdict, endedAt, by }) => [verdict.since / hour, endedAt / hour, by?.jobName]);

describe("a dead-man's switch that came due and is over", () => {
  const rule: DeadManRule = {
    enabled: true,
    maxSinceSuccessMs: 5 * hour,
    auto: undefined,
    fromCreation: true,
    pauseMonitoring: true,
  };
  const past = (...ends: number[]): DeadManPast => ({
    successes: ends.map((at) => ({ jobName: `run-${at}`, endedAt: at * hour, p95DurationMs: undefined })),
    failuresBeforeFirst: undefined,
    originAt: 0,
    suspensions: [],
    nthSlotAfter: (after, n) => after + n * hour,
  });

  it('lasted from its limit to the success that came later', () => {
    assert.deepEqual(spans(deadMenPassed(rule, past(0, 4, 12, 20))), [
      [9, 12, 'run-12'],
      [17, 20, 'run-20'],
    ]);
  });
  it('is none when the success came in time, at the limit included', () => {
    assert.deepEqual(deadMenPassed(rule, past(0, 4, 9)), []);
  });
  it('rests while its CronJob is suspended, and counts from the resume', () => {
    const rested = { ...past(0, 12), suspensions: [{ fromAt: 2 * hour, toAt: 8 * hour }] };
    assert.deepEqual(deadMenPassed(rule, rested), []);
    const resumed = { ...past(0, 12), suspensions: [{ fromAt: 2 * hour, toAt: 6 * hour }] };
    assert.deepEqual(spans(deadMenPassed(rule, resumed)), [[11, 12, 'run-12']]);
    assert.deepEqual(spans(deadMenPassed({ ...rule, pauseMonitoring: false }, rested)), [[5, 12, 'run-12']]);
  });
  it('ended with the suspension that pauses it, also after the last success', () => {
    const [passed, ...more] = deadMenPassed(rule, { ...past(0), suspensions: [{ fromAt: 7 * hour, toAt: undefined }] });
    assert.deepEqual([passed?.verdict.since, passed?.endedAt, passed?.cause, more], [5 * hour, 7 * hour, 'paused', []]);
  });
  it('by the schedule counts the durations that were known then', () => {
    const auto = { ...rule, maxSinceSuccessMs: undefined, auto: { bufferMs: hour, missedScheduleThreshold: 2 } };
    const known = past(0, 12);
    const successes = known.successes.map((one, index) => ({ ...one, p95DurationMs: index === 0 ? hour : 9 * hour }));
    assert.deepEqual(spans(deadMenPassed(auto, { ...known, successes })), [[4, 12, 'run-12']]);
  });

  describe('before the first success', () => {
    const kinds = (passed: readonly PassedLevel[]) =>
      passed.map(({ type, subject, verdict, endedAt }) => [type, subject, verdict.since / hour, endedAt / hour]);
    const never = (...ends: number[]): DeadManPast => ({ ...past(...ends), failuresBeforeFirst: [3 * hour, 7 * hour] });

    it('lasted from the limit after the first expected run, and names what failed', () => {
      const [passed] = deadMenPassed(rule, never(12, 15));
      assert.deepEqual(kinds(passed ? [passed] : []), [['absent', 'neverSucceeded', 6, 12]]);
      assert.equal(passed?.verdict.detail['failedRuns'], 2);
    });
    it('is none when the first success came in time, or when an earlier one may be unknown', () => {
      assert.deepEqual(deadMenPassed(rule, never(6)), []);
      assert.deepEqual(deadMenPassed(rule, past(12)), []);
    });
    it('is none where the monitor does not ask for it', () => {
      assert.deepEqual(deadMenPassed({ ...rule, fromCreation: false }, never(12)), []);
    });
    it('ended with the suspension that pauses it', () => {
      const suspended = { ...never(20), suspensions: [{ fromAt: 9 * hour, toAt: 15 * hour }] };
      assert.deepEqual(kinds(deadMenPassed(rule, suspended)), [['absent', 'neverSucceeded', 6, 9]]);
    });
  });
});

describe('a run beyond its limit that is over', () => {
  const rule = { enabled: true, maxDurationMs: hour, minDurationMs: 0.5 * hour };
  const ended = (jobName: string, endedAt: number, duration: number): EndedRun => ({
    jobName,
    endedAt: endedAt * hour,
    durationMs: duration * hour,
  });

  it('lasted from its limit, while the run went on, to the end of one within the limit', () => {
    const runs = [ended('slow', 3, 2), ended('slower', 6, 2.5), ended('quick', 8, 0.1), ended('next', 9, 0.1)];
    assert.deepEqual(spans(overrunsPassed(rule, runs, [])), [[2, 8, 'quick']]);
  });
  it('goes on while another run is beyond the limit', () => {
    const runs = [ended('quick', 4, 0.5), ended('slow', 5, 3), ended('last', 6, 0.5)];
    assert.deepEqual(spans(overrunsPassed(rule, runs, [])), [[3, 6, 'last']]);
    const slow = [ended('slow', 3, 2), ended('quick', 8, 0.1)];
    assert.deepEqual(overrunsPassed(rule, slow, [{ jobName: 'goes on', startedAt: 6 * hour }]), []);
  });
  it('is none while the newest ended run is the one', () => {
    assert.deepEqual(overrunsPassed(rule, [ended('slow', 3, 2)], []), []);
  });
  it('is none that began before the runs that are known', () => {
    const runs = [ended('slow', 3, 2), ended('quick', 4, 0.6), ended('slow again', 8, 2), ended('last', 9, 0.6)];
    assert.deepEqual(spans(overrunsPassed(rule, runs, [], true)), [[7, 9, 'last']]);
    const successes = [ended('quick', 3, 0.1), ended('usual', 4, 0.6), ended('quick', 5, 0.1), ended('usual', 6, 0.6)];
    assert.deepEqual(spans(hastePassed(rule, successes, true)), [[5, 6, 'usual']]);
  });
  it('a run of exactly the limit was in time', () => {
    assert.deepEqual(overrunsPassed(rule, [ended('exact', 3, 1), ended('quick', 4, 0.1)], []), []);
  });
  it('a success that was too quick lasted until one that was not', () => {
    const successes = [ended('quick', 3, 0.1), ended('quick too', 4, 0.2), ended('usual', 5, 0.7)];
    assert.deepEqual(spans(hastePassed(rule, successes)), [[3, 5, 'usual']]);
  });
});

describe('Jobs that were stuck', () => {
  const rule: JobStuckRule = {
    enabled: true,
    notStartedAfterMs: hour,
    hopelessAfterMs: 2 * minute,
    terminatingAfterMs: hour,
    overrunningAfterMs: undefined,
  };
  const none = { p99DurationMs: undefined, runs: 0 };
  const job = (jobName: string, since: number, until: number, more: Partial<PastJob> = {}): PastJob => ({
    job: { jobName, reason: undefined },
    sinceAt: since * hour,
    untilAt: until * hour,
    ...more,
  });

  it('lasted from the limit until the Job was so no more; Jobs whose times touch are one', () => {
    const jobs = [job('a', 0, 3), job('b', 1, 5), job('c', 7, 7.5), job('d', 9, 11)];
    const passed = stuckPassed('notStarted', rule, jobs, none);
    assert.deepEqual(spans(passed), [
      [1, 5, undefined],
      [10, 11, undefined],
    ]);
    assert.deepEqual([passed[0]?.verdict.count, passed[0]?.verdict.detail['jobs']], [2, ['a', 'b']]);
  });
  it('is none while one of them still is', () => {
    assert.deepEqual(stuckPassed('terminating', rule, [job('a', 0, 3), job('b', 1, Infinity)], none), []);
  });
  it('what was told by the shorter limit is not told again by the longer one', () => {
    const [passed] = stuckPassed('notStarted', rule, [job('a', 0, 3)], none);
    assert.equal(passed?.beganAt, 0);
  });
  it('what waits for what does not come by itself has the shorter limit', () => {
    assert.deepEqual(spans(stuckPassed('notStarted', rule, [job('a', 0, 0.5, { isHopeless: true })], none)), [
      [2 / 60, 0.5, undefined],
    ]);
  });
  it('a run overran by what was known of the runs before it, and its end ended that', () => {
    const by = { jobName: 'a', endedAt: 7 * hour };
    const known = { p99DurationMs: hour, runs: 10 };
    assert.deepEqual(spans(stuckPassed('overrunning', rule, [job('a', 0, 7, { by })], known)), [[5, 7, 'a']]);
    const gap = { job: { jobName: 'a', reason: undefined, slotGapMs: 2 * hour } };
    assert.deepEqual(spans(stuckPassed('overrunning', rule, [job('a', 0, 7, gap)], none)), [[2, 7, undefined]]);
  });
  it('one that never started was told once, by the limit that passed first; one that started late also overran', () => {
    const overrunning = [job('vain', 0, 5), job('late', 0, 5), job('usual', 0, 5), job('waits', 0, Infinity)];
    const notStarted = [job('vain', 0, 5), job('late', 0, 4), job('waits', 0, Infinity)];
    const told = (overrunningAfterMs: number): unknown => {
      const once = toldOnce({ ...rule, overrunningAfterMs }, { notStarted, overrunning }, none);
      return [once.notStarted, once.overrunning].map((jobs) => jobs.map((past) => past.job.jobName));
    };
    assert.deepEqual(told(2 * hour), [
      ['vain', 'late', 'waits'],
      ['late', 'usual'],
    ]);
    assert.deepEqual(told(minute), [[], ['vain', 'late', 'usual', 'waits']]);
  });
});

it('a suspension that was longer than allowed lasted until the resume; one that goes on, or was short, is none', () => {
  const suspensions = [
    { fromAt: 0, toAt: 2 * hour },
    { fromAt: 10 * hour, toAt: 15 * hour },
    { fromAt: 20 * hour, toAt: undefined },
  ];
  assert.deepEqual(spans(suspensionsPassed({ alertIfSuspendedForMs: 2 * hour }, suspensions)), [[12, 15, undefined]]);
  assert.deepEqual(suspensionsPassed({ alertIfSuspendedForMs: undefined }, suspensions), []);
});

describe('deadlines of days that have passed', () => {
  const rule = { enabled: true, time: '06:00', timeZone: 'UTC' };
  const day = (number: number, finished: number | undefined, expectedSlots = 1): FinishByDay => ({
    deadlineAt: number * 24 * hour,
    expectedSlots,
    finishedAt: finished === undefined ? undefined : finished * hour,
  });
  const passed = (...days: FinishByDay[]) =>
    spans(deadlinesPassed(rule, { last: undefined, nextDeadlineAt: 96 * hour, days }));

  it('lasted until the late success', () => assert.deepEqual(passed(day(1, 25), day(2, 47)), [[24, 25, undefined]]));
  it('lasted to the next deadline that was met, or had no run', () => {
    assert.deepEqual(passed(day(1, undefined), day(2, 47)), [[24, 48, undefined]]);
    assert.deepEqual(passed(day(1, undefined), day(2, undefined, 0)), [[24, 48, undefined]]);
  });
  it('goes on over deadlines that were not met', () => {
    assert.deepEqual(passed(day(1, undefined), day(2, 50)), [[24, 50, undefined]]);
    assert.deepEqual(passed(day(1, undefined), day(2, undefined)), []);
  });
  it('a success after the next deadline ends nothing before it', () => {
    assert.deepEqual(passed(day(1, 60), day(2, 47)), [[24, 48, undefined]]);
  });
});

describe('expected runs that did not start, and then one did', () => {
  const rule = { enabled: true, threshold: 2, skipWarnAfter: undefined };
  const slots = (...outcomes: JudgedSlot['outcome'][]): JudgedSlot[] =>
    outcomes
      .map((outcome, at) => ({
        at: at * hour,
        outcome,
        cause: undefined,
        startedAt: outcome === 'matched' ? at * hour + minute : undefined,
      }))
      .toReversed();

  it('lasted from the first of the row to the start that followed', () => {
    const passed = missesPassed(rule, {
      slots: slots('matched', 'missed', 'missed', 'matched', 'missed', 'matched'),
      paused: false,
    });
    assert.deepEqual(spans(passed), [[1, 3 + 1 / 60, undefined]]);
    assert.equal(passed[0]?.verdict.count, 2);
  });
  it('is none while no run has started since', () => {
    assert.deepEqual(missesPassed(rule, { slots: slots('missed', 'missed'), paused: false }), []);
  });
  it('ended with the suspension that pauses it, whether it goes on or not', () => {
    for (const toAt of [undefined, 4.5 * hour]) {
      const pauses = [{ fromAt: 2.5 * hour, toAt }];
      const passed = missesPassed(rule, { slots: slots('matched', 'missed', 'missed'), paused: false, pauses });
      assert.deepEqual(spans(passed), [[1, 2.5, undefined]]);
      assert.equal(passed[0]?.cause, 'paused');
    }
    const resumed = slots('matched', 'missed', 'missed', 'matched');
    const pauses = [{ fromAt: 2.25 * hour, toAt: 2.75 * hour }];
    assert.deepEqual(spans(missesPassed(rule, { slots: resumed, paused: false, pauses })), [[1, 2.25, undefined]]);
  });
  it('is none whose beginning is not known any more', () => {
    const cut = {
      slots: slots('missed', 'missed', 'matched', 'missed', 'missed', 'matched'),
      paused: false,
      isCut: true,
    };
    assert.deepEqual(spans(missesPassed(rule, cut)), [[3, 5 + 1 / 60, undefined]]);
  });
});

describe('a success rate that was below its minimum and is good again', () => {
  const rule = { enabled: true, minSuccessRate: 71, windowDays: 1, minRuns: 4 };
  const past = (statuses: string, more: Partial<RatePast> = {}): RatePast => ({
    runs: [...statuses].map((letter, index) => ({
      status: letter === 's' ? 'success' : 'failed',
      jobName: `run-${index}`,
      endedAt: index * hour,
    })),
    originAt: 0,
    completeFromAt: -Infinity,
    delayMs: 0,
    now: 12 * hour,
    ...more,
  });

  it('lasted from the run that broke it to the one after which it was met again by a margin', () => {
    assert.deepEqual(spans(ratesPassed(rule, past('sssffsss'))), [[4, 7, 'run-7']]);
  });
  it('is none while it is bad, while it has no margin, and where it was good all the time', () => {
    for (const statuses of ['sssffss', 'sssff', 'sssfsss']) assert.deepEqual(ratesPassed(rule, past(statuses)), []);
  });
  it('is none before it was good for as long as two looks are apart', () => {
    assert.deepEqual(ratesPassed(rule, past('sssffsss', { now: 7 * hour + minute })), []);
  });
  it('ended as the last run left the window: there is no rate any more, and nothing is well again', () => {
    const [passed] = ratesPassed({ ...rule, minRuns: 1 }, past('f', { now: 30 * hour }));
    assert.deepEqual([passed?.endedAt, passed?.cause], [24 * hour, 'noRuns']);
    assert.equal(ratesPassed(rule, past('sssffsss'))[0]?.cause, undefined);
  });
  it('is none of a time before the monitor judged the CronJob, or of which runs are unknown', () => {
    assert.deepEqual(ratesPassed(rule, past('sssffsss', { originAt: 7 * hour })), []);
    assert.deepEqual(ratesPassed(rule, past('sssffsss', { completeFromAt: 5 * hour })), []);
  });
});

describe('levels of a monitor whose rules were changed', () => {
  const level = (since: number, endedAt: number, subject: 'maxDuration' | 'finishBy' = 'maxDuration'): PassedLevel => ({
    type: 'slaBreached',
    subject,
    verdict: firmly(
      holds({ since: since * hour, reason: '', figures: { measured: 0, limit: 0, unit: 'seconds' }, detail: {} }),
    ),
    beganAt: since * hour - minute,
    endedAt: endedAt * hour,
    by: undefined,
  });
  const across = (
    earlier: readonly PassedLevel[],
    later: readonly PassedLevel[],
    [before = [], now = []]: readonly (readonly Judged[])[] = [],
  ) =>
    levelsAcross({ passed: earlier, judged: before }, { passed: later, judged: now }, 10 * hour).map(
      ({ verdict, endedAt, cause }) => [verdict.since / hour, endedAt / hour, ...(cause ? [cause] : [])],
    );

  it('are those of the earlier rules before the change, and of the later ones after it', () => {
    assert.deepEqual(across([level(1, 2), level(11, 13)], [level(3, 4), level(9, 12), level(14, 15)]), [
      [1, 2],
      [9, 12],
      [14, 15],
    ]);
  });
  it('are one where both held at the change, since the earlier rules held', () => {
    assert.deepEqual(across([level(9, 12)], [level(8, 12)]), [[9, 12]]);
    const another = [
      [8, 12],
      [9, 10, 'loosened'],
    ];
    assert.deepEqual(across([level(9, 12, 'finishBy')], [level(8, 12)]), another, 'of another subject it is another');
  });
  it('end at the change where the later rules allow what held, whether it is over or goes on', () => {
    const [{ type, subject, verdict }] = [level(9, 12)];
    const holding = [{ type, subject, verdict }];
    const allowed = (reason: string): Judged[] => [{ type, subject, verdict: quiet(reason) }];
    assert.deepEqual(across([level(9, 12)], []), [[9, 10, 'loosened']]);
    assert.deepEqual(across([], [], [holding, allowed('withinLimit')]), [[9, 10, 'loosened']]);
    assert.deepEqual(across([], [], [holding, allowed('notConfigured')]), [[9, 10, 'notConfigured']]);
    assert.deepEqual(across([], [], [holding, holding]), [], 'what holds by both goes on');
    const again = [{ type, subject, verdict: level(11, 12).verdict }];
    assert.deepEqual(across([], [], [holding, again]), [[9, 10, 'loosened']], 'what holds since then is another');
    const unknown = [{ type, subject, verdict: undecided('notKnownYet', undefined) }];
    assert.deepEqual(across([], [], [holding, unknown]), [], 'what cannot be told now is not ended');
  });
});
