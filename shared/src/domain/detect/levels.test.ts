import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { durationRegression, type DurationRegressionFacts } from './duration-regression.ts';
import { jobStuck, type JobStuckFacts, type JobStuckRule, jobSuspended, type UnfinishedJob } from './job-stuck.ts';

const minute = 60_000;
const hour = 60 * minute;

const rule = { enabled: true, thresholdPercent: 50, baselineWindowMs: 14 * 24 * hour };
const baseline = { runs: 40, p25: 9 * minute, p75: 11 * minute, p95: 12 * minute };
const regression = (recentMinutes: number[], more: Partial<DurationRegressionFacts> = {}) =>
  durationRegression(
    rule,
    { recentMs: recentMinutes.map((value) => value * minute), newestEndAt: 1, baseline, open: undefined, ...more },
    hour,
  );

test('durationRegression: recent runs half as long again hold', () => {
  const verdict = regression([18, 19, 18, 20, 19]);
  assert.ok(verdict.kind === 'holds');
  assert.equal(verdict.figures.measured, 20 * 60);
});
test('durationRegression: its limit is as round as the baseline allows, and never above what is said to pass it', () => {
  const precise = { ...baseline, p95: 11.97 * minute };
  const limitOf = (recent: number): number | undefined => {
    const verdict = regression([recent, recent, recent, recent, recent], { baseline: precise });
    return verdict.kind === 'holds' ? verdict.figures.limit : undefined;
  };
  assert.deepEqual([limitOf(20), limitOf(17.97)], [18 * 60, (17.97 * minute) / 1000]);
});
for (const [says, recent, more] of [
  ['one slow run alone does not', [10, 11, 10, 11, 30], {}],
  [
    'one slow run among those that take as long as ever does not, though the baseline says a little less than it was',
    [5, 5, 5, 5, 15],
    { baseline: { runs: 40, p25: 4.98 * minute, p75: 4.98 * minute, p95: 4.98 * minute } },
  ],
  ['less than the threshold does not', [17, 17, 17, 17, 17], {}],
  ['too few recent runs say nothing', [30, 30, 30, 30], {}],
  ['too few runs in the baseline say nothing', [30, 30, 30, 30, 30], { baseline: { ...baseline, runs: 9 } }],
  [
    'a rise within the usual scatter does not',
    [19, 19, 19, 19, 19],
    { baseline: { ...baseline, p25: minute, p75: 11 * minute } },
  ],
  [
    'a rise of less than five seconds does not',
    [0.1, 0.1, 0.1, 0.1, 0.1],
    { baseline: { runs: 40, p25: 1000, p75: 1000, p95: 2000 } },
  ],
] as const) {
  test(`durationRegression: ${says}`, () => assert.equal(regression([...recent], more).kind, 'quiet'));
}

test('durationRegression: it is measured against the baseline of its opening, and ends after two good evaluations', () => {
  const open = { baseline, sinceAt: 0, goodEvaluations: 0 };
  const slow = { ...baseline, p95: 30 * minute };
  assert.equal(regression([18, 18, 18, 18, 18], { open, baseline: slow }).kind, 'holds');
  assert.equal(regression([12, 12, 12, 12, 12], { open }).kind, 'holds', 'good once');
  assert.equal(regression([12, 12, 12, 12, 12], { open: { ...open, goodEvaluations: 1 } }).kind, 'quiet', 'good twice');
});

test('durationRegression: after a whole window slow is the new normal', () => {
  const verdict = regression([18, 18, 18, 18, 18], {
    open: { baseline, sinceAt: hour - rule.baselineWindowMs, goodEvaluations: 0 },
  });
  assert.equal(verdict.kind === 'quiet' && verdict.reason, 'newNormal');
});

const stuckRule: JobStuckRule = {
  enabled: true,
  notStartedAfterMs: 10 * minute,
  hopelessAfterMs: 2 * minute,
  terminatingAfterMs: 10 * minute,
  overrunningAfterMs: undefined,
};
const job = (more: Partial<UnfinishedJob>): UnfinishedJob => ({
  jobName: 'j',
  createdAt: 0,
  startedAt: undefined,
  suspended: false,
  waitingSinceAt: undefined,
  waitingReason: undefined,
  endingSinceAt: undefined,
  ...more,
});
const stuck = (jobs: UnfinishedJob[], more: Partial<JobStuckFacts> = {}): JobStuckFacts => ({
  jobs,
  p99DurationMs: undefined,
  runs: 0,
  ...more,
});

test('jobStuck notStarted: holds when nothing of the Job has run for ten minutes, and names why', () => {
  const facts = stuck([job({ waitingSinceAt: 0, waitingReason: 'ImagePullBackOff' })]);
  const before = jobStuck('notStarted', stuckRule, facts, 9 * minute);
  assert.equal(before.kind === 'quiet' && before.dueAt, 10 * minute);
  const verdict = jobStuck('notStarted', stuckRule, facts, 14 * minute);
  assert.deepEqual(verdict.kind === 'holds' && [verdict.since, verdict.detail['reason']], [
    10 * minute,
    'ImagePullBackOff',
  ]);
});

test('jobStuck notStarted: what does not pass by itself is told after two minutes', () => {
  const facts = stuck([job({ waitingSinceAt: 0, hopelessSinceAt: minute, waitingReason: 'InvalidImageName' })]);
  const before = jobStuck('notStarted', stuckRule, facts, 3 * minute - 1);
  assert.equal(before.kind === 'quiet' && before.dueAt, 3 * minute);
  const verdict = jobStuck('notStarted', stuckRule, facts, 3 * minute);
  assert.deepEqual(verdict.kind === 'holds' && [verdict.since, verdict.figures.limit], [3 * minute, 120]);
});

test('jobStuck notStarted: hopelessAfter 0 is notStartedAfter, and never more than it', () => {
  const facts = stuck([job({ waitingSinceAt: 0, hopelessSinceAt: 0 })]);
  const at = (rule: Partial<JobStuckRule>, now: number) =>
    jobStuck('notStarted', { ...stuckRule, ...rule }, facts, now).kind;
  assert.deepEqual(
    [at({ hopelessAfterMs: 0 }, 10 * minute - 1), at({ hopelessAfterMs: 0 }, 10 * minute)],
    ['quiet', 'holds'],
  );
  assert.equal(at({ hopelessAfterMs: hour }, 10 * minute), 'holds');
});

test('jobStuck notStarted: a container that waits in vain beside others that run is told, too', () => {
  const facts = stuck([job({ startedAt: 0, hopelessSinceAt: minute })]);
  assert.equal(jobStuck('notStarted', stuckRule, facts, 3 * minute).kind, 'holds');
});

test('jobStuck notStarted: what is told stays until the Job starts, also when nothing says any more why it waits', () => {
  const toldHopeless = new Set(['j']);
  const waiting = stuck([job({ waitingSinceAt: 0 })], { toldHopeless });
  const verdict = jobStuck('notStarted', stuckRule, waiting, 5 * minute);
  assert.equal(verdict.kind === 'holds' && verdict.since, 2 * minute);
  assert.equal(jobStuck('notStarted', stuckRule, stuck([job({ waitingSinceAt: 0 })]), 5 * minute).kind, 'quiet');
  assert.equal(jobStuck('notStarted', stuckRule, stuck([job({})], { toldHopeless }), 5 * minute).kind, 'quiet');
});

test('jobStuck notStarted: what is told keeps the limit that it was told by', () => {
  const limitOf = (facts: JobStuckFacts, now: number): unknown => {
    const verdict = jobStuck('notStarted', stuckRule, facts, now);
    return verdict.kind === 'holds' && [verdict.figures.limit, verdict.detail['hopeless']];
  };
  const replaced = [job({ waitingSinceAt: 0, hopelessSinceAt: 4 * minute })];
  assert.equal(limitOf(stuck(replaced), 5 * minute), false);
  const toldHopeless = new Set(['j']);
  assert.deepEqual(limitOf(stuck(replaced, { toldHopeless }), 5 * minute), [120, ['j']], 'another pod waits anew');
  assert.deepEqual(limitOf(stuck(replaced, { toldHopeless }), 30 * minute), [120, ['j']]);
  assert.deepEqual(
    limitOf(stuck([job({ waitingSinceAt: 0 })]), 30 * minute),
    [600, undefined],
    'it may pass by itself',
  );
});

test('jobStuck overrunning: what is told stays told while other runs make its limit longer, unless the limit is set', () => {
  const jobs = [job({ startedAt: 0 })];
  const toldOverrunning = new Map([['j', hour]]);
  const longer = { runs: 10, p99DurationMs: hour };
  const at = (rule: Partial<JobStuckRule>, more: Partial<JobStuckFacts>): unknown => {
    const verdict = jobStuck('overrunning', { ...stuckRule, ...rule }, stuck(jobs, more), 2 * hour);
    return verdict.kind === 'holds' && verdict.figures.limit;
  };
  assert.equal(at({}, longer), false);
  assert.equal(at({}, { ...longer, toldOverrunning }), 3_600);
  assert.equal(at({ overrunningAfterMs: 3 * hour }, { ...longer, toldOverrunning }), false);
});

test('jobStuck notStarted: a suspended Job waits rightly', () => {
  assert.equal(
    jobStuck('notStarted', stuckRule, stuck([job({ waitingSinceAt: 0, suspended: true })]), hour).kind,
    'quiet',
  );
});

test('jobStuck overrunning: five times as long as almost all runs before, an hour at least', () => {
  const running = [job({ startedAt: 0 })];
  const usual = { p99DurationMs: 35 * minute, runs: 10 };
  assert.equal(jobStuck('overrunning', stuckRule, stuck(running, usual), 174 * minute).kind, 'quiet');
  assert.equal(jobStuck('overrunning', stuckRule, stuck(running, usual), 175 * minute).kind, 'holds');
  assert.equal(
    jobStuck('overrunning', stuckRule, stuck(running, { p99DurationMs: minute, runs: 10 }), 59 * minute).kind,
    'quiet',
  );
  assert.equal(
    jobStuck('overrunning', stuckRule, stuck(running, { p99DurationMs: minute, runs: 9 }), 11 * hour).kind,
    'quiet',
    'too few runs',
  );
  assert.equal(
    jobStuck('overrunning', { ...stuckRule, overrunningAfterMs: 2 * hour }, stuck(running), 2 * hour).kind,
    'holds',
  );
});

test('jobStuck overrunning: the first runs have a limit, from slot to slot, 1 to 12 hours', () => {
  const limit = (slotGapMs: number | undefined, runs = 0): number | undefined => {
    const verdict = jobStuck('overrunning', stuckRule, stuck([job({ startedAt: 0, slotGapMs })], { runs }), minute);
    return verdict.kind === 'quiet' ? verdict.dueAt : undefined;
  };
  assert.deepEqual(
    [limit(5 * minute), limit(6 * hour), limit(24 * hour), limit(undefined), limit(6 * hour, 9)],
    [hour, 6 * hour, 12 * hour, 12 * hour, 6 * hour],
  );
});

describe('jobStuck: what never ran is told once', () => {
  const told = (limits: Partial<JobStuckRule>, one: Partial<UnfinishedJob>, more?: Partial<JobStuckFacts>): string[] =>
    (['notStarted', 'overrunning'] as const).filter((subject) => {
      const facts = stuck([job({ startedAt: 0, ...one })], more);
      return jobStuck(subject, { ...stuckRule, ...limits }, facts, 3 * hour).kind === 'holds';
    });
  const waiting = { waitingSinceAt: 0 };
  const short = { overrunningAfterMs: minute };

  it('by the limit that passes first', () => {
    assert.deepEqual(told({ overrunningAfterMs: hour }, waiting), ['notStarted']);
    assert.deepEqual(told(short, waiting), ['overrunning']);
  });
  it('as not started by both limits at once', () => {
    assert.deepEqual(told({ overrunningAfterMs: 10 * minute }, waiting), ['notStarted']);
  });
  it('by the limit that it was told by, whatever is known later of its wait', () => {
    const late = { ...waiting, hopelessSinceAt: -5 * minute };
    assert.deepEqual(told(short, late), ['notStarted']);
    assert.deepEqual(told(short, late, { toldOverrunning: new Map([['j', minute]]) }), ['overrunning']);
    assert.deepEqual(told(short, waiting, { toldNotStarted: new Set(['j']) }), ['notStarted']);
  });
  it('from its start, once it runs; and twice where one container ran and another waits in vain', () => {
    assert.deepEqual(told({ overrunningAfterMs: hour }, {}), ['overrunning']);
    assert.deepEqual(told({ overrunningAfterMs: hour }, { hopelessSinceAt: 0 }), ['notStarted', 'overrunning']);
  });
  it('and says that it has not started', () => {
    const at = (one: Partial<UnfinishedJob>): unknown => {
      const verdict = jobStuck('overrunning', { ...stuckRule, ...short }, stuck([job({ startedAt: 0, ...one })]), hour);
      return verdict.kind === 'holds' && verdict.detail['neverRan'];
    };
    assert.deepEqual([at(waiting), at({})], [true, undefined]);
  });
});

test('jobStuck terminating: decided, yet its pods do not end', () => {
  const facts = stuck([job({ startedAt: 0, endingSinceAt: minute })]);
  assert.equal(jobStuck('terminating', stuckRule, facts, 11 * minute).kind, 'holds');
  assert.equal(
    jobStuck('overrunning', { ...stuckRule, overrunningAfterMs: minute }, facts, hour).kind,
    'quiet',
    'it runs no more',
  );
});

test('jobStuck counts all stuck Jobs and tells of the oldest', () => {
  const facts = stuck([job({ jobName: 'b', waitingSinceAt: minute }), job({ jobName: 'a', waitingSinceAt: 0 })]);
  const verdict = jobStuck('notStarted', stuckRule, facts, hour);
  assert.deepEqual(verdict.kind === 'holds' && [verdict.count, verdict.detail['jobName']], [2, 'a']);
});

test('jobSuspended: holds once the suspension has lasted, and ends with it', () => {
  const weekly = { alertIfSuspendedForMs: 7 * 24 * hour };
  const at = (days: number) => jobSuspended(weekly, { suspendedSinceAt: 0 }, days * 24 * hour).kind;
  assert.deepEqual([at(6), at(7)], ['quiet', 'holds']);
  assert.equal(jobSuspended(weekly, { suspendedSinceAt: undefined }, hour).kind, 'quiet');
  assert.equal(jobSuspended({ alertIfSuspendedForMs: undefined }, { suspendedSinceAt: 0 }, 999 * hour).kind, 'quiet');
});
