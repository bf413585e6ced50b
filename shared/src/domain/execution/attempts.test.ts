import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aContainer, aJob, anEnd, aPod, slotAt } from '../../testing/index.ts';
import { countAttempts, podEndedAt, toAttempts } from './attempts.ts';

test('a pod ended when its last container did, or when it was deleted', () => {
  const containers = [
    aContainer({ terminated: anEnd(1, 'Error', 5) }),
    aContainer({ terminated: anEnd(0, undefined, 9) }),
  ];
  assert.equal(podEndedAt(aPod({ containers })), slotAt + 9000);
  assert.equal(podEndedAt(aPod({ deletingAt: slotAt + 4000 })), slotAt + 4000);
  assert.equal(podEndedAt(aPod()), undefined);
});

test('attempts are the pods we saw or those the Job counted, whichever is more', () => {
  const pods = [aPod({ name: 'a' }), aPod({ name: 'b' }), aPod({ name: 'b' })];
  assert.equal(countAttempts(aJob(), pods), 2);
  assert.equal(countAttempts(aJob({ failedPods: 3, succeededPods: 1 }), pods), 4);
  assert.equal(countAttempts(aJob(), []), 0);
});

test('three lives of one container are three attempts, and a sidecar that starts anew is none', () => {
  const restarted = aPod({ containers: [aContainer({ restarts: 2 }), aContainer({ name: 'other', restarts: 1 })] });
  assert.equal(countAttempts(aJob(), [restarted]), 3);
  assert.equal(countAttempts(aJob({ failedPods: 3 }), [restarted]), 5, 'two pods were gone before they were seen');
  const proxied = aPod({ containers: [aContainer({ sidecar: true, init: true, restarts: 4 }), aContainer()] });
  assert.equal(countAttempts(aJob({ succeededPods: 1 }), [proxied]), 1);
});

test('attempts come oldest first and tell the end before a restart', () => {
  const restarted = aContainer({ waiting: 'CrashLoopBackOff', lastTerminated: anEnd(7), restarts: 2 });
  const attempts = toAttempts([
    aPod({ name: 'late', createdAt: slotAt + 30_000, containers: [restarted] }),
    aPod({ name: 'early', phase: 'Failed', reason: 'Evicted', containers: [] }),
  ]);
  assert.deepEqual(
    attempts.map(({ pod, reason, containers }) => [pod, reason, containers.map(({ exitCode }) => exitCode)]),
    [
      ['early', 'Evicted', []],
      ['late', undefined, [7]],
    ],
  );
  assert.equal(attempts[1]?.containers[0]?.reason, 'Error');
  assert.equal(attempts[1]?.containers[0]?.restarts, 2);
});
