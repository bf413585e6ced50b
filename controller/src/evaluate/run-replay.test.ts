import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AlertRecord, JudgedRunRow } from '@cronjob-monitor/shared/store';
import { replayRuns } from './run-replay.ts';
import type { Subject, Watch } from './subject.ts';
import { aJobFailedRule } from '@cronjob-monitor/shared/testing';

const minute = 60_000;
const jobFailed = aJobFailedRule();
// Only what a replay reads.
const watch = {
  monitor: { id: 1 },
  rules: { detection: { jobFailed, stuck: {} }, alerts: { alertDelayMs: 10 * minute } },
} as unknown as Watch;
const subjectWith = (...states: AlertRecord['state'][]) =>
  ({ alerts: states.map((state) => ({ monitorId: 1, type: 'jobFailed', state })) }) as unknown as Subject;

function run(status: JudgedRunRow['status'], endedAt: number): JudgedRunRow {
  const nothing = {
    exitCode: undefined,
    reason: undefined,
    jobReason: undefined,
    failedIndexes: undefined,
    durationMs: undefined,
    fault: undefined,
  };
  return {
    ...nothing,
    jobUid: `${endedAt}`,
    jobName: `run-${endedAt}`,
    status,
    endedAt,
    isScheduled: true,
    isCounted: true,
    isUnjudged: false,
  };
}

/** Newest run first, of which the last so many are news: each stage as its run, whether that is news, and until when it lasted. */
function stagesOf(subject: Subject, runs: readonly JudgedRunRow[], news: number) {
  const isNews = (one: JudgedRunRow): boolean => runs.indexOf(one) < news;
  const facts = { jobFailed: { runs: [], isOpen: false } };
  const { stages } = replayRuns(subject, watch, runs, { isNews, facts, now: 100 * minute });
  return stages.map((stage) => [
    stage.run.jobName,
    stage.isNews,
    stage.untilAt / minute,
    stage.judged[0]?.verdict.kind,
  ]);
}

test('runs that are news together are judged one after the other', () => {
  const runs = [run('success', 30 * minute), run('failed', 20 * minute), run('success', 10 * minute)];
  assert.deepEqual(stagesOf(subjectWith(), runs, 2), [[`run-${20 * minute}`, true, 30, 'holds']]);
  assert.deepEqual(stagesOf(subjectWith('active'), runs, 1), [], 'what was told ends by the run that is news');
});

test('an alert that waits is asked whether it held until the run that is news', () => {
  const runs = [run('success', 30 * minute), run('failed', 10 * minute)];
  for (const state of ['pending', 'suppressed'] as const)
    assert.deepEqual(stagesOf(subjectWith(state), runs, 1), [[`run-${10 * minute}`, false, 30, 'holds']]);
});

/** With other rules until an instant: each stage as its run, its instant, and whether it failed by the rules of its time. */
function stagesAcross(runs: readonly JudgedRunRow[], news: number, until: number, earlier: object) {
  const rules = { detection: { jobFailed: { ...jobFailed, ...earlier }, stuck: {} } };
  const changed = { ...watch, earlier: { rules, untilAt: until } } as unknown as Watch;
  const isNews = (one: JudgedRunRow): boolean => runs.indexOf(one) < news;
  const facts = { jobFailed: { runs: [], isOpen: false } };
  const { stages, isNewestNews } = replayRuns(subjectWith(), changed, runs, { isNews, facts, now: 100 * minute });
  return [
    ...stages.map(({ run: { jobName }, at, judged }) => [jobName, at / minute, judged[0]?.verdict.kind]),
    isNewestNews,
  ];
}

test('a run is judged by what was asked when it ended, and anew when more was asked', () => {
  const runs = [run('success', 30 * minute), run('failed', 20 * minute)];
  const failed = `run-${20 * minute}`;
  const off = { enabled: false };
  assert.deepEqual(stagesAcross(runs, 2, 15 * minute, off), [[failed, 20, 'holds'], true]);
  assert.deepEqual(stagesAcross(runs, 2, 40 * minute, off), [
    [failed, 20, 'quiet'],
    [`run-${30 * minute}`, 30, 'quiet'],
    false,
  ]);
  const between = [[failed, 20, 'quiet'], [failed, 25, 'holds'], true];
  assert.deepEqual(stagesAcross(runs, 2, 25 * minute, off), between);
  assert.deepEqual(stagesAcross(runs, 1, 25 * minute, off), between.slice(1), 'its end alone is news');
});

/** Of a group of Jobs that is remembered for 30 minutes: each stage as its run, its instant and what it says. */
function stagesOfGroup(subject: Subject, runs: readonly JudgedRunRow[], news: number) {
  const remembered = { ...watch, rules: { ...watch.rules, forgetAfterMs: 30 * minute } };
  const isNews = (one: JudgedRunRow): boolean => runs.indexOf(one) < news;
  const facts = { jobFailed: { runs: [], isOpen: false } };
  const { stages, isOpen } = replayRuns(subject, remembered, runs, { isNews, facts, now: 100 * minute });
  const told = stages.map(({ run: { jobName }, at, judged }) => {
    const verdict = judged[0]?.verdict;
    return [jobName, at / minute, verdict?.kind === 'quiet' ? verdict.reason : verdict?.kind];
  });
  return [...told, isOpen];
}

test('a group of Jobs is forgotten between two runs of a gap', () => {
  const failed = run('failed', 10 * minute);
  const name = `run-${10 * minute}`;
  const later = { ...run('success', 60 * minute), durationMs: 5 * minute };
  assert.deepEqual(stagesOfGroup(subjectWith(), [later, failed], 2), [
    [name, 10, 'holds'],
    [name, 40, 'forgotten'],
    false,
  ]);
  assert.deepEqual(stagesOfGroup(subjectWith('active'), [later, failed], 1), [[name, 40, 'forgotten'], false]);
  const beganBefore = { ...later, durationMs: 21 * minute };
  assert.deepEqual(stagesOfGroup(subjectWith('active'), [beganBefore, failed], 1), [undefined]);
});

test('what failed and was forgotten before the service looked is told as that', () => {
  const subject = { ...subjectWith(), groupEndedAt: 10 * minute };
  const name = `run-${10 * minute}`;
  assert.deepEqual(stagesOfGroup(subject, [run('failed', 10 * minute)], 1), [
    [name, 10, 'holds'],
    [name, 40, 'forgotten'],
    false,
  ]);
});
