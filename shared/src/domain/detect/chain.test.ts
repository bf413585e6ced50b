import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertTypes, slaSubjects, type AlertSubject } from '../../contract/index.ts';
import { judge, judgedKinds, partOf, type DetectionRules } from './chain.ts';
import { aJobFailedRule } from '../../testing/rules.ts';

const stuck = {
  enabled: true,
  notStartedAfterMs: 600_000,
  hopelessAfterMs: 120_000,
  terminatingAfterMs: 600_000,
  overrunningAfterMs: 3_600_000,
};
const rules: DetectionRules = {
  jobFailed: aJobFailedRule(),
  missedSchedule: { enabled: true, threshold: 1, skipWarnAfter: undefined, graceMs: 120_000 },
  deadMan: undefined,
  durations: { enabled: true, maxDurationMs: 60_000, minDurationMs: undefined },
  successRate: undefined,
  finishBy: undefined,
  regression: undefined,
  output: undefined,
  stuck: { notStarted: stuck, overrunning: stuck, terminating: undefined },
  suspended: { alertIfSuspendedForMs: undefined },
  pauseMonitoring: true,
};

test('every type of alert has a link', () => {
  assert.deepEqual(
    alertTypes.filter((type) => !judgedKinds.some((kind) => kind.type === type)),
    [],
  );
});

test('only what there are facts for is asked', () => {
  assert.deepEqual(judge(rules, {}, 0), []);
  const judged = judge(rules, { jobFailed: { runs: [], isOpen: false } }, 0);
  assert.deepEqual(
    judged.map(({ type, verdict }) => [type, verdict.kind]),
    [['jobFailed', 'quiet']],
  );
});

test('what the monitor does not ask for is answered as not configured, so that an open alert of it ends', () => {
  const facts = { stuck: { jobs: [], p99DurationMs: undefined, runs: 0 } };
  const terminating = judge(rules, facts, 0).find(({ subject }) => subject === 'terminating');
  assert.equal(terminating?.verdict.kind === 'quiet' && terminating.verdict.reason, 'notConfigured');
});

test('causes stand before their later signs', () => {
  const placeOf = (type: string, subject?: string): number =>
    judgedKinds.findIndex((kind) => kind.type === type && kind.subject === subject);
  assert.ok(placeOf('missedSchedule') < placeOf('deadManTriggered'));
  assert.ok(placeOf('slaBreached', 'maxDuration') < placeOf('jobStuck', 'overrunning'));
  assert.ok(placeOf('jobStuck', 'notStarted') < placeOf('slaBreached', 'maxDuration'));
  assert.ok(placeOf('jobFailed') < placeOf('slaBreached', 'maxDuration'));
});

test('what went on is judged as seen last, once the cluster has been silent for long', () => {
  const running = [{ jobName: 'slow', startedAt: 0 }];
  const facts = { durations: { lastEnded: undefined, lastSuccess: undefined, running } };
  const kind = (now: number, freshThroughAt: number) =>
    judge(rules, facts, now, freshThroughAt).find(({ subject }) => subject === 'maxDuration')?.verdict.kind;
  assert.equal(kind(100_000, 50_000), 'holds', 'between two bookmarks');
  assert.equal(kind(200_000, 50_000), 'undecided', 'it may have ended');
  assert.equal(kind(200_000, 60_000), 'holds', 'it had passed the limit when it was seen last');
});

test('a limit that has passed by the clock and not by what is known opens nothing, and ends no alert that was proved before', () => {
  const deadMan = {
    enabled: true,
    maxSinceSuccessMs: 20_000,
    auto: undefined,
    fromCreation: true,
    pauseMonitoring: true,
  };
  const facts = {
    deadMan: {
      suspended: false,
      lastSuccessAt: 0,
      originAt: 0,
      resumedAt: undefined,
      p95DurationMs: undefined,
      nthSlotAfter: () => undefined,
    },
  };
  const verdict = (now: number, knownThroughAt: number) =>
    judge({ ...rules, deadMan }, facts, now, knownThroughAt).find(({ type }) => type === 'deadManTriggered')?.verdict;
  assert.equal(verdict(21_000, 21_000)?.kind, 'holds', 'it was proved');
  assert.deepEqual(verdict(22_000, 19_000), { kind: 'undecided', reason: 'notKnownYet', dueAt: 20_000 });
  assert.equal(verdict(19_500, 19_000)?.kind, 'quiet', 'the limit has not passed');
});

test('each type of alert has facts that decide about it, those of its subject where it has several', () => {
  for (const type of alertTypes) assert.ok(partOf({ type, subject: undefined }), type);
  assert.equal(partOf({ type: 'jobSuspended', subject: undefined }), 'suspended');
  assert.equal(partOf({ type: 'slaBreached', subject: undefined }), 'durations');
  const partOfSla = (subject: AlertSubject) => partOf({ type: 'slaBreached', subject });
  assert.deepEqual(slaSubjects.map(partOfSla), ['successRate', 'durations', 'durations', 'finishBy']);
  assert.equal(partOfSla('output'), 'output');
  assert.equal(partOf({ type: 'absent', subject: 'disappeared' }), 'deadMan');
});
