import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aFailedJob, anEnd, aPod, slotAt } from '../../testing/index.ts';
import { findExitCause } from './exit-cause.ts';
import type { JobFacts } from '../objects/job.ts';
import type { ContainerFacts, PodFacts } from '../objects/pod.ts';

/** A pod that failed, with these containers. */
const failed = (containers: readonly ContainerFacts[], changes: Partial<PodFacts> = {}): PodFacts =>
  aPod({ phase: 'Failed', containers, ...changes });
const ended = (code: number, reason?: string, afterS?: number): ContainerFacts =>
  aContainer({ terminated: anEnd(code, reason, afterS) });
const named = (name: string, container: ContainerFacts): ContainerFacts => ({ ...container, name });
const init = (name: string, container: ContainerFacts): ContainerFacts => ({ ...container, name, init: true });
const sidecar = (container: ContainerFacts): ContainerFacts => ({
  ...container,
  name: 'proxy',
  init: true,
  sidecar: true,
});
const waiting = (reason: string): ContainerFacts => aContainer({ waiting: reason, startedAt: undefined });
const crashed = (code: number, reason?: string): ContainerFacts =>
  aContainer({ waiting: 'CrashLoopBackOff', lastTerminated: anEnd(code, reason), restarts: 3 });
const indexedPod = (index: number, phase: string, code: number, afterS: number): PodFacts =>
  aPod({ name: `pod-${index}-${afterS}`, index, phase, containers: [ended(code, undefined, afterS)] });
const at = (s: number): number => slotAt + s * 1000;

/** [what the pods look like, the pods, exit code, reason, container, what else the Job says] */
type Row = [string, PodFacts[], number | undefined, string | undefined, string | undefined, Partial<JobFacts>?];

const rows: Row[] = [
  ['exit 1 of the only container', [failed([ended(1)])], 1, 'Error', 'main'],
  ['exit 42 with a reason of its own', [failed([ended(42, 'Custom')])], 42, 'Custom', 'main'],
  ['OOMKilled', [failed([ended(137, 'OOMKilled')])], 137, 'OOMKilled', 'main'],
  ['137 without OOMKilled stays a plain kill', [failed([ended(137)])], 137, 'Error', 'main'],
  ['143 after SIGTERM', [failed([ended(143)])], 143, 'Error', 'main'],
  ['139, a crash', [failed([ended(139)])], 139, 'Error', 'main'],
  ['a command that does not exist', [failed([ended(127, 'ContainerCannotRun')])], 127, 'ContainerCannotRun', 'main'],
  ['a process that could not be started', [failed([ended(128, 'StartError')])], 128, 'StartError', 'main'],
  ['a lost node', [failed([ended(137, 'ContainerStatusUnknown')])], 137, 'ContainerStatusUnknown', 'main'],
  ['a sidecar that ended well first', [failed([named('proxy', ended(0, undefined, 1)), ended(3)])], 3, 'Error', 'main'],
  [
    'a sidecar that was killed after the fact',
    [failed([named('proxy', ended(143, 'Error', 12)), named('main', ended(3, 'Error', 10))])],
    3,
    'Error',
    'main',
  ],
  [
    'a sidecar that failed first is the root cause',
    [failed([named('proxy', ended(2, 'Error', 5)), named('main', ended(1, 'Error', 9))])],
    2,
    'Error',
    'proxy',
  ],
  [
    'two ends in one second: the heavier reason',
    [failed([named('main', ended(1, 'Error', 9)), named('cache', ended(137, 'OOMKilled', 9))])],
    137,
    'OOMKilled',
    'cache',
  ],
  [
    'a restartable init container that failed is no cause',
    [failed([sidecar(ended(1, 'Error', 1)), ended(4)])],
    4,
    'Error',
    'main',
  ],
  [
    'an init container that failed',
    [failed([init('migrate', ended(5)), waiting('PodInitializing')])],
    5,
    'Error',
    'migrate',
  ],
  [
    'the first of two init containers that failed',
    [failed([init('a', ended(6)), init('b', ended(7)), waiting('PodInitializing')])],
    6,
    'Error',
    'a',
  ],
  [
    'an init container in a crash loop',
    [aPod({ phase: 'Pending', containers: [init('migrate', crashed(8)), waiting('PodInitializing')] })],
    8,
    'Error',
    'migrate',
  ],
  [
    'init containers that ended well',
    [failed([init('migrate', ended(0, undefined, 1)), ended(9)])],
    9,
    'Error',
    'main',
  ],
  ['a crash loop shows its end in lastState only', [aPod({ containers: [crashed(1)] })], 1, 'Error', 'main'],
  ['a crash loop by memory', [aPod({ containers: [crashed(137, 'OOMKilled')] })], 137, 'OOMKilled', 'main'],
  [
    'running again after a failed instance, then out of time',
    [aPod({ containers: [aContainer({ lastTerminated: anEnd(11), restarts: 1 })] })],
    11,
    'Error',
    'main',
    { jobReason: 'DeadlineExceeded' },
  ],
  [
    'the present end counts before the earlier one',
    [failed([aContainer({ terminated: anEnd(2), lastTerminated: anEnd(1), restarts: 1 })])],
    2,
    'Error',
    'main',
  ],
  ['evicted without any container status', [failed([], { reason: 'Evicted' })], undefined, 'Evicted', undefined],
  [
    'evicted, containers still said to run',
    [failed([aContainer()], { reason: 'Evicted' })],
    undefined,
    'Evicted',
    'main',
  ],
  ['evicted outweighs Error', [failed([ended(137)], { reason: 'Evicted' })], 137, 'Evicted', 'main'],
  ['OOMKilled outweighs evicted', [failed([ended(137, 'OOMKilled')], { reason: 'Evicted' })], 137, 'OOMKilled', 'main'],
  [
    'StartError outweighs evicted',
    [failed([ended(128, 'StartError')], { reason: 'Evicted' })],
    128,
    'StartError',
    'main',
  ],
  [
    'ContainerCannotRun outweighs evicted',
    [failed([ended(126, 'ContainerCannotRun')], { reason: 'Evicted' })],
    126,
    'ContainerCannotRun',
    'main',
  ],
  [
    'a restartable init container that failed alone',
    [aPod({ deletingAt: at(5), containers: [sidecar(ended(1, 'Error', 1)), aContainer()] })],
    undefined,
    'DeadlineExceeded',
    undefined,
    { jobReason: 'DeadlineExceeded' },
  ],
  ['NodeLost', [aPod({ phase: 'Unknown', reason: 'NodeLost' })], undefined, 'NodeLost', 'main'],
  [
    'evicted while its image could not be pulled',
    [failed([aContainer({ waiting: 'ImagePullBackOff' })], { disruption: 'EvictionByEvictionAPI' })],
    undefined,
    'ImagePullBackOff',
    'main',
  ],
  [
    'evicted while its image could not be pulled, and another pod begins',
    [
      failed([aContainer({ waiting: 'ErrImagePull' })], { reason: 'Evicted' }),
      aPod({ name: 'new', phase: 'Pending', containers: [aContainer({ waiting: 'ContainerCreating' })] }),
    ],
    undefined,
    'ErrImagePull',
    'main',
  ],
  ['preempted', [failed([ended(143)], { disruption: 'PreemptionByScheduler' })], 143, 'PreemptionByScheduler', 'main'],
  ['drained', [failed([ended(137)], { disruption: 'EvictionByEvictionAPI' })], 137, 'EvictionByEvictionAPI', 'main'],
  [
    'a taint manager took a pod without an end',
    [failed([aContainer()], { disruption: 'DeletionByTaintManager' })],
    undefined,
    'DeletionByTaintManager',
    'main',
  ],
  [
    'the pod ran out of its own time',
    [failed([ended(143)], { reason: 'DeadlineExceeded' })],
    143,
    'DeadlineExceeded',
    'main',
  ],
  [
    'an image that cannot be pulled',
    [aPod({ phase: 'Pending', containers: [waiting('ImagePullBackOff')] })],
    undefined,
    'ImagePullBackOff',
    'main',
  ],
  [
    'a missing Secret until the deadline',
    [aPod({ phase: 'Pending', deletingAt: at(12), containers: [waiting('CreateContainerConfigError')] })],
    undefined,
    'CreateContainerConfigError',
    'main',
    { jobReason: 'DeadlineExceeded' },
  ],
  [
    'an init image that cannot be pulled',
    [aPod({ phase: 'Pending', containers: [init('migrate', waiting('ErrImagePull')), waiting('PodInitializing')] })],
    undefined,
    'ErrImagePull',
    'migrate',
  ],
  [
    'a pod that no node takes',
    [aPod({ phase: 'Pending', containers: [], unscheduled: 'Unschedulable' })],
    undefined,
    'Unschedulable',
    undefined,
    { jobReason: 'DeadlineExceeded' },
  ],
  [
    'an ordinary start cut short by the deadline',
    [aPod({ phase: 'Pending', deletingAt: at(5), containers: [waiting('ContainerCreating')] })],
    undefined,
    'DeadlineExceeded',
    undefined,
    { jobReason: 'DeadlineExceeded' },
  ],
  [
    'a running pod deleted by the deadline',
    [aPod({ deletingAt: at(5) })],
    undefined,
    'DeadlineExceeded',
    undefined,
    { jobReason: 'DeadlineExceeded' },
  ],
  [
    'a deleted pod whose end was seen',
    [aPod({ deletingAt: at(35), containers: [ended(137, 'Error', 35)] })],
    137,
    'Error',
    'main',
    { jobReason: 'DeadlineExceeded' },
  ],
  ['no pod is left', [], undefined, 'BackoffLimitExceeded', undefined],
  [
    'of three failed pods the one that ended last',
    [
      failed([ended(1, 'Error', 10)], { name: 'a' }),
      failed([ended(3, 'Error', 40)], { name: 'b', createdAt: at(30) }),
      failed([ended(2, 'Error', 25)], { name: 'c', createdAt: at(20) }),
    ],
    3,
    'Error',
    'main',
  ],
  [
    'a failed pod before one that still runs',
    [aPod({ name: 'b', createdAt: at(30) }), failed([ended(12, 'Error', 10)], { name: 'a' })],
    12,
    'Error',
    'main',
  ],
  [
    'a failed pod that tells nothing, beside one that does',
    [failed([], { name: 'b', createdAt: at(30) }), failed([ended(13, 'Error', 10)], { name: 'a' })],
    13,
    'Error',
    'main',
  ],
  [
    'the lowest failed index, not the one that ended last',
    [indexedPod(5, 'Failed', 5, 40), indexedPod(2, 'Failed', 22, 10), indexedPod(0, 'Succeeded', 0, 5)],
    22,
    'Error',
    'main',
    { indexed: true, failedIndexes: '2,5', jobReason: 'FailedIndexes' },
  ],
  [
    'an index that failed once and then succeeded is no failed index',
    [indexedPod(0, 'Failed', 7, 5), indexedPod(0, 'Succeeded', 0, 20), indexedPod(3, 'Failed', 33, 15)],
    33,
    'Error',
    'main',
    { indexed: true },
  ],
  [
    'the newest attempt of the lowest failed index',
    [indexedPod(1, 'Failed', 4, 10), indexedPod(1, 'Failed', 5, 30), indexedPod(2, 'Failed', 6, 50)],
    5,
    'Error',
    'main',
    { indexed: true, failedIndexes: '1-2' },
  ],
];

for (const [title, pods, exitCode, reason, container, job] of rows) {
  test(`exit cause: ${title}`, () => {
    const cause = findExitCause(aFailedJob(job), pods);
    assert.deepEqual(
      { exitCode: cause.exitCode, reason: cause.reason, container: cause.container },
      { exitCode, reason, container },
    );
    const reversed = findExitCause(aFailedJob(job), pods.toReversed());
    assert.deepEqual(reversed, cause, 'the order in which the pods are known must not matter');
  });
}

test('the matrix has all of its cases', () => {
  assert.ok(rows.length >= 40, `${rows.length} cases`);
});

test('an end before the last restart asks for the log of the previous instance', () => {
  assert.equal(findExitCause(aFailedJob(), [aPod({ containers: [crashed(1)] })]).previous, true);
  assert.equal(findExitCause(aFailedJob(), [failed([ended(1)])]).previous, false);
});

test('what a container waits for comes with its message', () => {
  const pod = aPod({
    phase: 'Pending',
    containers: [aContainer({ waiting: 'CreateContainerConfigError', waitingMessage: 'secret "x" not found' })],
  });
  assert.equal(findExitCause(aFailedJob(), [pod]).message, 'secret "x" not found');
});
