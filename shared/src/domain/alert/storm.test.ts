import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isStorm, isStormOver, joinsStorms, stormWindowMs } from './storm.ts';

const usual = { entered: 20, fleet: 100, threshold: 20, isControllerStale: false };

for (const [says, change, expected] of [
  ['twenty of a hundred CronJobs are a storm', {}, true],
  ['nineteen are none', { entered: 19 }, false],
  ['twenty of a hundred and one are less than a fifth', { fleet: 101 }, false],
  ['with a stale controller manager one is enough', { entered: 1, isControllerStale: true }, true],
  ['but without any there is nothing to tell', { entered: 0, isControllerStale: true }, false],
  ['a threshold of 0 means no storms', { threshold: 0, isControllerStale: true }, false],
] as const) {
  test(says, () => assert.equal(isStorm({ ...usual, ...change }), expected));
}

test('a storm ends five minutes after the last CronJob entered', () => {
  const storm = { id: 'storm', beganAt: 0, lastEntryAt: 60_000 };
  assert.equal(isStormOver(storm, 60_000 + stormWindowMs - 1), false);
  assert.equal(isStormOver(storm, 60_000 + stormWindowMs), true);
});

test('what an outage of the cluster brings about joins, what a program does wrong does not', () => {
  assert.deepEqual(
    [
      joinsStorms('missedSchedule', undefined),
      joinsStorms('deadManTriggered', undefined),
      joinsStorms('jobStuck', 'notStarted'),
      joinsStorms('jobStuck', 'overrunning'),
      joinsStorms('jobFailed', undefined),
    ],
    [true, true, true, false, false],
  );
});
