import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import type { PodFacts } from '@cronjob-monitor/shared/domain';
import { aContainer, anEnd, aPod } from '@cronjob-monitor/shared/testing';
import { createPodMemory, type PodMemory } from './pod-memory.ts';

let live: PodFacts[];
let memory: PodMemory;
beforeEach(() => {
  live = [];
  memory = createPodMemory({ listBy: (_index, jobUid) => live.filter((pod) => pod.jobUid === jobUid) });
});

const ended = (exitCode: number) => [aContainer({ state: 'terminated', terminated: anEnd(exitCode) })];
const noJob = () => false;
const exitCodes = () => memory.podsOf('job').map((pod) => pod.containers[0]?.terminated?.exitCode);

test('a pod that is gone is remembered as it was last', () => {
  memory.lost(aPod({ uid: 'p', jobUid: 'job', containers: ended(3) }), 100);
  assert.deepEqual(exitCodes(), [3]);
});

test('a pod that failed keeps its exit code when it is killed afterwards', () => {
  const failed = aPod({ uid: 'p', jobUid: 'job', containers: ended(3) });
  assert.equal(memory.observe(failed), true, 'its first failure is news');
  assert.equal(memory.observe(failed), false, 'the same again is none');
  const killed = aPod({ uid: 'p', jobUid: 'job', deletingAt: 50, containers: ended(137) });
  live = [killed];
  memory.observe(killed);
  assert.deepEqual(exitCodes(), [3], 'while it goes');
  live = [];
  memory.lost(killed, 100);
  assert.deepEqual(exitCodes(), [3], 'and when it is gone');
});

test('a pod that could not start keeps what it waited for when it is taken away', () => {
  const waits = (waiting: string, more: PodFacts['containers'] = []) =>
    aPod({ uid: 'p', jobUid: 'job', phase: 'Pending', containers: [...more, aContainer({ waiting })] });
  const unknown = [aContainer({ terminated: anEnd(137, 'ContainerStatusUnknown') })];
  const taken = aPod({ uid: 'p', jobUid: 'job', phase: 'Failed', deletingAt: 50, containers: unknown });
  const reasons = () => memory.podsOf('job').flatMap(({ containers }) => containers.map(({ waiting }) => waiting));

  memory.observe(waits('ErrImagePull'));
  memory.observe(waits('ImagePullBackOff'));
  memory.observe(taken);
  memory.lost(taken, 100);
  assert.deepEqual(reasons(), ['ImagePullBackOff']);
  memory.forget('job');

  const init = aContainer({ name: 'init', init: true, terminated: anEnd(0) });
  memory.observe(waits('CreateContainerConfigError', [init]));
  memory.lost(taken, 100);
  assert.deepEqual(reasons(), [undefined, 'CreateContainerConfigError'], 'also behind init containers that ended well');
});

test('a pod that could not start keeps what it waited for when a deadline ends it', () => {
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [aContainer({ waiting: 'ImagePullBackOff' })] }));
  const unknown = [aContainer({ terminated: anEnd(137, 'ContainerStatusUnknown') })];
  const ended = aPod({ uid: 'p', jobUid: 'job', phase: 'Failed', reason: 'DeadlineExceeded', containers: unknown });
  live = [ended];
  assert.equal(memory.observe(ended), true, 'its failure is news');
  const tell = () => memory.podsOf('job').map(({ phase, containers }) => [phase, containers[0]?.waiting]);
  assert.deepEqual(tell(), [['Failed', 'ImagePullBackOff']]);
  live = [];
  memory.lost(ended, 100);
  assert.deepEqual(tell(), [['Failed', 'ImagePullBackOff']], 'also when it is gone');
});

test('why an image did not come is known while the kubelet waits to try again, which says only that', () => {
  const waits = (waiting: string, waitingMessage: string) => {
    const pod = aPod({ uid: 'p', jobUid: 'job', containers: [aContainer({ waiting, waitingMessage })] });
    memory.observe(pod);
    live = [pod];
    return memory.podsOf('job').map(({ containers }) => [containers[0]?.waiting, containers[0]?.waitingMessage]);
  };
  const bare = 'Back-off pulling image "report:1"';
  assert.deepEqual(waits('ImagePullBackOff', bare), [['ImagePullBackOff', bare]]);
  for (const why of ['503 Service Unavailable', 'not found']) {
    assert.deepEqual(waits('ErrImagePull', why), [['ErrImagePull', why]], 'the last attempt counts');
    for (let look = 0; look < 2; look++)
      assert.deepEqual(waits('ImagePullBackOff', bare), [['ImagePullBackOff', why]], 'however often it is seen');
  }
  const own = `${bare}: ErrImagePull: unauthorized`;
  assert.deepEqual(waits('ImagePullBackOff', own), [['ImagePullBackOff', own]], 'what says why by itself stays');
  assert.deepEqual(waits('CreateContainerError', 'no room'), [['CreateContainerError', 'no room']]);
  assert.deepEqual(waits('ImagePullBackOff', bare), [['ImagePullBackOff', bare]], 'no other wait explains it');
});

test('a container that had run and was lost keeps its unknown end', () => {
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [aContainer({ waiting: 'ImagePullBackOff' })] }));
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [aContainer()] }));
  live = [
    aPod({
      uid: 'p',
      jobUid: 'job',
      phase: 'Failed',
      containers: [aContainer({ terminated: anEnd(137, 'ContainerStatusUnknown') })],
    }),
  ];
  assert.deepEqual(exitCodes(), [137]);
});

test('a pod that waited and then ran ends as it ends', () => {
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [aContainer({ waiting: 'ErrImagePull' })] }));
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [aContainer()] }));
  memory.lost(aPod({ uid: 'p', jobUid: 'job', deletingAt: 50, containers: ended(143) }), 100);
  assert.deepEqual(exitCodes(), [143]);
});

test('an init container that was running is killed with its pod, and that is the end', () => {
  const init = (changes: object) => aContainer({ name: 'init', init: true, ...changes });
  const main = aContainer({ waiting: 'PodInitializing' });
  memory.observe(aPod({ uid: 'p', jobUid: 'job', containers: [init({}), main] }));
  const killed = [init({ terminated: anEnd(143) }), main];
  memory.lost(aPod({ uid: 'p', jobUid: 'job', deletingAt: 50, containers: killed }), 100);
  assert.deepEqual(exitCodes(), [143]);
});

test('a pod that is both alive and said to be gone counts once', () => {
  live = [aPod({ uid: 'p', jobUid: 'job' })];
  memory.lost(aPod({ uid: 'p', jobUid: 'job', containers: ended(1) }), 100);
  assert.equal(memory.podsOf('job').length, 1);
});

test('gone pods are forgotten with their run, or when they were not asked for during a long time', () => {
  memory.lost(aPod({ uid: 'a', jobUid: 'job' }), 100);
  memory.forget('job');
  assert.equal(memory.podsOf('job').length, 0);
  memory.lost(aPod({ uid: 'b', jobUid: 'job' }), 100);
  memory.forgetLost(100, noJob);
  assert.equal(memory.podsOf('job').length, 1);
  memory.forgetLost(101, noJob);
  assert.equal(memory.podsOf('job').length, 0);
});

test('a pod that is gone is remembered for as long as the end of its Job waits for the database', () => {
  memory.lost(aPod({ uid: 'p', jobUid: 'job', containers: ended(3) }), 100);
  memory.forgetLost(10_000_000, (jobUid) => jobUid === 'job');
  assert.deepEqual(exitCodes(), [3]);
  memory.forgetLost(10_000_000, noJob);
  assert.deepEqual(exitCodes(), []);
});
