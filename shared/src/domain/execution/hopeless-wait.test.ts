import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { aContainer, aJob, anEnd, aPod, slotAt } from '../../testing/index.ts';
import { hopelessWaitOf, refusalIn, type CreateRefusal } from './hopeless-wait.ts';
import type { JobFacts } from '../objects/job.ts';
import type { ContainerFacts, PodFacts } from '../objects/pod.ts';

const second = 1_000;
const job = (changes: Partial<JobFacts> = {}): JobFacts =>
  aJob({
    createdAt: slotAt,
    startedAt: slotAt,
    outcome: undefined,
    endedAt: undefined,
    activePods: 0,
    readyPods: 0,
    succeededPods: 0,
    failedPods: 0,
    ...changes,
  });
const waits = (waiting: string, changes: Partial<ContainerFacts> = {}): ContainerFacts =>
  aContainer({ waiting, waitingMessage: 'as Kubernetes says', startedAt: undefined, ...changes });
const pending = (...containers: ContainerFacts[]): PodFacts =>
  aPod({ phase: 'Pending', startedAt: slotAt + second, containers });
const refused: CreateRefusal = {
  firstAt: slotAt + 2 * second,
  lastAt: slotAt + 60 * second,
  message: 'exceeded quota: q',
};

describe('a wait that does not pass by itself', () => {
  const kubelet = [
    'InvalidImageName',
    'ErrImageNeverPull',
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
  ];
  for (const reason of kubelet)
    test(`${reason} is one from the start of the pod on`, () =>
      assert.deepEqual(hopelessWaitOf(job(), [pending(waits(reason))]), {
        reason,
        message: 'as Kubernetes says',
        sinceAt: slotAt + second,
        fromAt: slotAt + second,
      }));

  for (const reason of ['ImagePullBackOff', 'ErrImagePull'])
    test(`${reason} is one after the second back-off of the kubelet, 10 s and 20 s`, () => {
      const wait = hopelessWaitOf(job(), [pending(waits(reason))]);
      assert.deepEqual([wait?.sinceAt, wait?.fromAt], [slotAt + second, slotAt + 31 * second]);
    });

  test('the pause between two tries of a process that cannot be started is the same wait', () => {
    const container = waits('CrashLoopBackOff', { lastTerminated: anEnd(128, 'StartError') });
    assert.equal(hopelessWaitOf(job(), [pending(container)])?.reason, 'RunContainerError');
  });

  test('a container that waits so makes its Job wait, whatever ran before it or runs beside it', () => {
    const init = aContainer({ name: 'init', init: true, terminated: anEnd(0, undefined, 40) });
    const sidecar = aContainer({ name: 'proxy' });
    const wait = hopelessWaitOf(job(), [pending(init, sidecar, waits('CreateContainerConfigError'))]);
    assert.equal(wait?.sinceAt, slotAt + 40 * second, 'since its init container ended');
    const retryPod = aPod({
      name: 'again',
      phase: 'Pending',
      createdAt: slotAt + 90 * second,
      startedAt: slotAt + 91 * second,
    });
    const failed = aPod({ phase: 'Failed', containers: [aContainer({ terminated: anEnd(1) })] });
    const retry = { ...retryPod, containers: [waits('ErrImageNeverPull')] };
    assert.equal(hopelessWaitOf(job({ failedPods: 1 }), [failed, retry])?.sinceAt, slotAt + 91 * second);
  });

  test('a pod that was replaced waits no more; of each completion index the newest counts', () => {
    const old = pending(waits('InvalidImageName'));
    const next = aPod({ name: 'next', createdAt: slotAt + 30 * second });
    assert.equal(hopelessWaitOf(job(), [old, next]), undefined);
    const wait = hopelessWaitOf(job({ indexed: true }), [
      { ...old, index: 0 },
      { ...next, index: 1 },
    ]);
    assert.equal(wait?.reason, 'InvalidImageName');
  });

  const others: [string, Partial<JobFacts>, PodFacts[]][] = [
    ['what is created or pulled now', {}, [pending(waits('ContainerCreating'))]],
    ['a crash loop, which has run', {}, [pending(waits('CrashLoopBackOff', { lastTerminated: anEnd(1) }))]],
    ['no node for it, which may come', {}, [aPod({ phase: 'Pending', containers: [], unscheduled: 'Unschedulable' })]],
    ['a suspended Job', { suspended: true }, [pending(waits('InvalidImageName'))]],
    ['a decided one', { decidedAs: 'failed' }, [pending(waits('InvalidImageName'))]],
    ['one that is over', { outcome: 'failed' }, [pending(waits('InvalidImageName'))]],
    ['one that is being deleted', { deletingAt: slotAt }, [pending(waits('InvalidImageName'))]],
    ['a pod that has failed', {}, [aPod({ phase: 'Failed', containers: [waits('InvalidImageName')] })]],
    ['no pod and no word', {}, []],
  ];
  for (const [title, changes, pods] of others)
    test(`is not ${title}`, () => assert.equal(hopelessWaitOf(job(changes), pods), undefined));
});

describe('pods that the cluster refuses to create', () => {
  test('are waited for in vain since the first refusal', () => {
    const wait = hopelessWaitOf(job(), [], refused);
    assert.deepEqual(
      [wait?.reason, wait?.message, wait?.sinceAt],
      ['FailedCreate', 'exceeded quota: q', refused.firstAt],
    );
  });

  test('are over once one was created', () => {
    assert.equal(hopelessWaitOf(job({ activePods: 1 }), [], refused), undefined);
    assert.equal(hopelessWaitOf(job(), [aPod({ createdAt: refused.lastAt, phase: 'Failed' })], refused), undefined);
  });

  test('are told of a second attempt too, from the pod before it on', () => {
    const failed = aPod({ createdAt: slotAt + 20 * second, phase: 'Failed' });
    assert.equal(hopelessWaitOf(job({ failedPods: 1 }), [failed], refused)?.sinceAt, slotAt + 20 * second);
    assert.equal(hopelessWaitOf(job({ failedPods: 2 }), [failed], refused), undefined, 'a pod of it is not known');
  });

  test('are read from all events of the Job that tell it, in the words of the newest', () => {
    const event = (reason: string, firstAt: number | undefined, lastAt: number | undefined, message = 'm') => ({
      reason,
      firstAt,
      lastAt,
      message,
    });
    assert.deepEqual(
      refusalIn([event('FailedCreate', 5, 9, 'new'), event('SuccessfulCreate', 1, 20), event('FailedCreate', 3, 4)]),
      { firstAt: 3, lastAt: 9, message: 'new' },
    );
    assert.deepEqual(refusalIn([event('FailedCreate', undefined, 4)]), { firstAt: 4, lastAt: 4, message: 'm' });
    assert.equal(refusalIn([event('SuccessfulCreate', 1, 2), event('FailedCreate', undefined, undefined)]), undefined);
  });
});
