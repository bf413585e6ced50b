import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventsWaitMs } from './events-wait.ts';

const endedAt = 1_700_000_000_000;

test('the events of a run that ends now are waited for, for two seconds at most', () => {
  assert.equal(eventsWaitMs(endedAt, endedAt), 2_000);
  assert.equal(eventsWaitMs(endedAt, endedAt + 999), 2_000);
  assert.equal(eventsWaitMs(endedAt, endedAt - 60_000), 2_000);
  assert.equal(eventsWaitMs(undefined, endedAt), 2_000);
});

test('what has ended a while ago has its events already', () => {
  assert.equal(eventsWaitMs(endedAt, endedAt + 2_500), 500);
  assert.equal(eventsWaitMs(endedAt, endedAt + 3_000), 0);
  assert.equal(eventsWaitMs(endedAt, endedAt + 3_600_000), 0);
});
