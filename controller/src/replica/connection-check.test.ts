import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionsOf, countReplicas } from './connection-check.ts';

test('all replicas count, each with what its work takes or its pool allows', () => {
  const replicas = countReplicas(['controller', 'controller', 'apiserver', 'apiserver', 'other', undefined], false);
  assert.deepEqual(replicas, { controller: 2, apiserver: 2 });
  assert.equal(connectionsOf(replicas, 100), 2 * (20 + 1) + 2 * 32);
  assert.equal(connectionsOf(replicas, 10), 42, 'the default of the chart fits into every default of a server');
});

test('who sees no pods counts itself', () => {
  assert.deepEqual(countReplicas([], true), { controller: 1, apiserver: 1 });
  assert.deepEqual(countReplicas([], false), { controller: 1, apiserver: 0 });
});
