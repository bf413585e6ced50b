import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodFacts } from '@cronjob-monitor/shared/domain';
import { aContainer, aJob, anEnd, aPod } from '@cronjob-monitor/shared/testing';
import { logsWorthReading, type EvidenceWishes } from './wanted.ts';

const wishes: EvidenceWishes = {
  logs: true,
  events: false,
  explain: false,
  maxLogBytes: 1024,
  container: undefined,
  initContainers: false,
};
const going = aJob({ outcome: undefined, endedAt: undefined, decidedAt: undefined });
const read = (pods: PodFacts[], more: Partial<EvidenceWishes> = {}, job = going, maxAttempts = 3) =>
  logsWorthReading(job, pods, { ...wishes, ...more }, maxAttempts).map(
    ({ pod, container, previous }) => `${pod.name}/${container}${previous ? ' previous' : ''}`,
  );

const main = (more = {}) =>
  aContainer({
    name: 'main',
    init: false,
    state: 'running',
    terminated: undefined,
    lastTerminated: undefined,
    ...more,
  });
const failed = (name: string) =>
  aContainer({ name, init: false, state: 'terminated', terminated: anEnd(2), lastTerminated: undefined });

test('a pod that is still at work has nothing to tell', () => {
  assert.deepEqual(read([aPod({ name: 'p', phase: 'Running', containers: [main()] })]), []);
});

test('of a pod that ended the first regular container is read', () => {
  assert.deepEqual(
    read([
      aPod({
        name: 'p',
        phase: 'Succeeded',
        containers: [main({ state: 'terminated', terminated: anEnd(0) })],
      }),
    ]),
    ['p/main'],
  );
});

test('of several containers the one that failed is read, unless another is asked for', () => {
  const pod = aPod({ name: 'p', phase: 'Failed', containers: [main(), failed('worker')] });
  assert.deepEqual(read([pod]), ['p/worker']);
  assert.deepEqual(read([pod], { container: 'main' }), ['p/main']);
});

test('after a restart it is the instance before that failed', () => {
  const pod = aPod({
    name: 'p',
    phase: 'Running',
    containers: [main({ lastTerminated: anEnd(1), restarts: 1 })],
  });
  assert.deepEqual(read([pod]), ['p/main previous']);
});

test('init containers are read when asked for', () => {
  const init = aContainer({
    name: 'setup',
    init: true,
    state: 'terminated',
    terminated: anEnd(0),
    lastTerminated: undefined,
  });
  const pod = aPod({ name: 'p', phase: 'Failed', containers: [init, failed('main')] });
  assert.deepEqual(read([pod], { initContainers: true }), ['p/setup', 'p/main']);
  assert.deepEqual(read([pod]), ['p/main']);
});

test('pods of a Job that is decided are read before they are deleted', () => {
  const pod = aPod({ name: 'p', phase: 'Running', containers: [main()] });
  assert.deepEqual(read([pod], {}, { ...going, decidedAt: 5 }), ['p/main']);
});

test('no more than the newest attempts are read', () => {
  const pods = [1, 2, 3, 4, 5].map((n) =>
    aPod({ uid: `u${n}`, name: `p${n}`, createdAt: n, phase: 'Failed', containers: [failed('main')] }),
  );
  assert.deepEqual(read(pods, {}, going, 2), ['p5/main', 'p4/main']);
});
