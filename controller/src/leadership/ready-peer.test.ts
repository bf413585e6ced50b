import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { RawObject } from '@cronjob-monitor/shared/kube';

import { hasReadyPeer } from './database-outage.ts';

const aPod = (name: string, ready: string, more: object = {}): RawObject => ({
  metadata: { name, ...more },
  status: {
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Ready', status: ready },
    ],
  },
});

const ask = (...pods: RawObject[]) => {
  const asked: string[] = [];
  const cluster = {
    listPods: async (namespace: string, selector: string) => {
      asked.push(`${namespace} ${selector}`);
      return pods;
    },
  };
  const deps = { cluster, namespace: 'monitoring', labelSelector: 'app=controller', ownPod: 'me' };
  return hasReadyPeer(deps, new AbortController().signal).then((answer) => {
    assert.deepEqual(asked, ['monitoring app=controller']);
    return answer;
  });
};

test('a peer is another pod that is Ready', async () => {
  assert.equal(await ask(aPod('me', 'True'), aPod('other', 'True')), true);
});

test('we are no peer of ours, and who is not Ready, or leaves, or has no conditions, is none', async () => {
  assert.equal(await ask(aPod('me', 'True')), false);
  assert.equal(await ask(aPod('other', 'False')), false);
  assert.equal(await ask(aPod('other', 'True', { deletionTimestamp: '2026-11-21T07:53:00Z' })), false);
  assert.equal(await ask({ metadata: { name: 'other' } }, {}), false);
});
