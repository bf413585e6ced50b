import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aFailedJob } from '@cronjob-monitor/shared/testing';
import { createCaches } from './cluster-view.ts';

test('Jobs that go on are found without a look at those that have ended', () => {
  const { jobs } = createCaches();
  const going = aFailedJob({ uid: 'going', name: 'going', outcome: undefined, endedAt: undefined });
  jobs.put(aFailedJob({ uid: 'ended', name: 'ended' }), '1', 1);
  jobs.put(going, '1', 1);
  const unfinished = (): string[] => jobs.listBy('unfinished', 'all').map(({ uid }) => uid);
  assert.deepEqual(unfinished(), ['going']);
  jobs.put(aFailedJob({ uid: 'going', name: 'going' }), '2', 1);
  assert.deepEqual(unfinished(), []);
  jobs.put(going, '3', 1);
  jobs.remove('going');
  assert.deepEqual(unfinished(), []);
});
