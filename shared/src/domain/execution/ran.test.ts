import assert from 'node:assert/strict';
import { it } from 'node:test';
import { aContainer, anEnd, aPod } from '../../testing/index.ts';
import { firstRunAt } from './attempts.ts';

const pods = (...containers: Parameters<typeof aContainer>[0][]) => [
  aPod({ containers: containers.map((one) => aContainer(one)) }),
];

it('the first container that ran tells when a Job started, also by the end of its first instance', () => {
  assert.equal(firstRunAt(pods({ state: 'running', startedAt: 7 }, { state: 'running', startedAt: 5 })), 5);
  const lastTerminated = { ...anEnd(1), startedAt: 3 };
  assert.equal(firstRunAt(pods({ state: 'running', startedAt: 9, lastTerminated, restarts: 1 })), 3);
});

it('nothing tells it of one that waits, and of one that was started often', () => {
  assert.equal(firstRunAt(pods({ state: 'waiting', waiting: 'ContainerCreating' })), undefined);
  assert.equal(firstRunAt(pods({ state: 'running', startedAt: 9, lastTerminated: anEnd(1), restarts: 2 })), 'unknown');
});
