import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aFailedJob, aJob, anEnd, aPod, slotAt } from '../../testing/index.ts';
import type { JobFacts } from '../objects/job.ts';
import type { PodFacts } from '../objects/pod.ts';
import { toExecution, type ExecutionContext, judgeVanished, type Vanishing } from './to-execution.ts';

const seen: ExecutionContext = { otherClaims: [], vanished: undefined, delayed: false, inMaintenance: false };
const endedAt = slotAt + 60_000;
const succeeded = (changes: Partial<JobFacts> = {}): JobFacts =>
  aJob({ outcome: 'success', endedAt, jobReason: 'CompletionsReached', activePods: 0, succeededPods: 1, ...changes });
const failedPod = (name: string, afterS: number, changes: Partial<PodFacts> = {}): PodFacts =>
  aPod({ name, phase: 'Failed', containers: [aContainer({ terminated: anEnd(3, 'Error', afterS) })], ...changes });

test('a Job without an end makes no execution', () => {
  assert.equal(toExecution(aJob(), [], seen), undefined);
});

test('three failed pods and then a success are one success of four attempts', () => {
  const pods = [failedPod('a', 1), failedPod('b', 12), failedPod('c', 34), aPod({ name: 'd', phase: 'Succeeded' })];
  const run = toExecution(succeeded({ failedPods: 3 }), pods, seen);
  assert.equal(run?.status, 'success');
  assert.equal(run?.attempts, 4);
  assert.equal(run?.exitCode, undefined);
  assert.equal(run?.reason, undefined);
  assert.equal(run?.jobReason, 'CompletionsReached');
});

test('FailureTarget half a minute early is no end; the end is that of Failed', () => {
  const decided = aJob({ decidedAs: 'failed', decidedAt: slotAt + 30_000, jobReason: 'DeadlineExceeded' });
  assert.equal(toExecution(decided, [failedPod('a', 29)], seen), undefined);
  const run = toExecution(aFailedJob({ jobReason: 'DeadlineExceeded' }), [failedPod('a', 29)], seen);
  assert.equal(run?.finishedAt, endedAt);
  assert.equal(run?.durationMs, 60_000);
  assert.equal(run?.jobReason, 'DeadlineExceeded');
  assert.equal(run?.exitCode, 3);
});

test('a success policy makes a success of a Job with a failed index', () => {
  const job = succeeded({
    indexed: true,
    jobReason: 'SuccessPolicy',
    failedIndexes: '0',
    succeededPods: 2,
    failedPods: 1,
  });
  const run = toExecution(job, [failedPod('p-0', 2, { index: 0 })], seen);
  assert.equal(run?.status, 'success');
  assert.equal(run?.failedIndexes, '0');
  assert.equal(run?.attempts, 3);
  assert.equal(run?.exitCode, undefined);
});

test('a partly failed indexed Job tells its lowest failed index', () => {
  const job = aFailedJob({
    indexed: true,
    jobReason: 'FailedIndexes',
    failedIndexes: '1,4',
    failedPods: 2,
    succeededPods: 3,
  });
  const pods = [
    failedPod('p-4', 50, { index: 4, node: 'node-4' }),
    aPod({
      name: 'p-1',
      index: 1,
      phase: 'Failed',
      node: 'node-1',
      containers: [aContainer({ terminated: anEnd(21) })],
    }),
  ];
  const run = toExecution(job, pods, seen);
  assert.equal(run?.exitCode, 21);
  assert.equal(run?.node, 'node-1');
  assert.equal(run?.failedIndexes, '1,4');
  assert.equal(run?.attempts, 5);
});

test('an indexed Job that names no failed indexes has those of its pods', () => {
  const pods = [failedPod('p-2', 5, { index: 2 }), failedPod('p-3', 6, { index: 3 })];
  assert.equal(toExecution(aFailedJob({ indexed: true }), pods, seen)?.failedIndexes, '2-3');
  assert.equal(toExecution(aFailedJob(), pods, seen)?.failedIndexes, undefined);
});

test('a replaced run ended when it was seen to go; its killed pod is no cause', () => {
  const vanished = { status: 'replaced', at: slotAt + 45_000 } as const;
  const killed = failedPod('a', 45, { deletingAt: slotAt + 44_000 });
  const run = toExecution(aJob(), [killed], { ...seen, vanished });
  assert.equal(run?.status, 'replaced');
  assert.equal(run?.finishedAt, slotAt + 45_000);
  assert.equal(run?.durationMs, 45_000);
  assert.equal(run?.exitCode, undefined);
});

test('a deleted run keeps the cause of a pod that had failed before', () => {
  const vanished = { status: 'deleted', at: slotAt + 45_000 } as const;
  assert.equal(toExecution(aJob({ failedPods: 1 }), [failedPod('a', 5)], { ...seen, vanished })?.exitCode, 3);
});

test('a run whose end was not seen has no known end', () => {
  const run = toExecution(aJob(), [], { ...seen, vanished: { status: 'unobserved', at: endedAt }, delayed: true });
  assert.equal(run?.status, 'unobserved');
  assert.equal(run?.finishedAt, undefined);
  assert.equal(run?.durationMs, undefined);
  assert.equal(run?.delayed, true);
});

test('a terminal condition outweighs the way the Job went', () => {
  const vanished = { status: 'deleted', at: endedAt } as const;
  assert.equal(toExecution(succeeded(), [], { ...seen, vanished })?.status, 'success');
});

test('a run without a start has no duration', () => {
  const run = toExecution(aFailedJob({ startedAt: undefined }), [], seen);
  assert.equal(run?.durationMs, undefined);
  assert.equal(run?.reason, 'BackoffLimitExceeded');
  assert.equal(run?.exitCode, undefined);
});

const goneAt = slotAt + 60_000;
const next = (changes: Partial<JobFacts> = {}): JobFacts => aJob({ slotAt: goneAt, createdAt: goneAt, ...changes });

/** [title, the Job, seen to go, policy, other Jobs, seconds since it went, verdict] */
const rows: [string, Partial<JobFacts>, boolean, 'Replace' | 'Allow' | undefined, JobFacts[], number, Vanishing][] = [
  ['a newer Job came at once', {}, true, 'Replace', [next()], 0, { status: 'replaced' }],
  [
    'a newer Job came just before',
    {},
    true,
    'Replace',
    [next({ createdAt: goneAt - 59_000 })],
    0,
    { status: 'replaced' },
  ],
  ['none has come yet', {}, true, 'Replace', [], 59, { undecidedUntilAt: goneAt + 60_000 }],
  ['none came within a minute', {}, true, 'Replace', [], 60, { status: 'deleted' }],
  ['one came much later', {}, true, 'Replace', [next({ createdAt: goneAt + 61_000 })], 90, { status: 'deleted' }],
  ['a Job of an older slot', {}, true, 'Replace', [next({ slotAt: slotAt - 60_000 })], 60, { status: 'deleted' }],
  [
    'a Job started by hand',
    {},
    true,
    'Replace',
    [next({ name: 'x', slotAt: undefined, manual: true })],
    60,
    { status: 'deleted' },
  ],
  ['another policy', {}, true, 'Allow', [next()], 0, { status: 'deleted' }],
  ['the CronJob is gone too', {}, true, undefined, [], 0, { status: 'deleted' }],
  [
    'a manual Job is never replaced',
    { name: 'x', slotAt: undefined, manual: true },
    true,
    'Replace',
    [next()],
    0,
    { status: 'deleted' },
  ],
  ['not watched', {}, false, 'Replace', [next()], 0, { status: 'unobserved' }],
];

for (const [title, changes, seen, policy, siblings, seconds, verdict] of rows) {
  test(`a Job is gone without an end: ${title}`, () => {
    const now = goneAt + seconds * 1000;
    assert.deepEqual(judgeVanished(aJob(changes), { at: goneAt, seen }, siblings, { policy, now }), verdict);
  });
}
