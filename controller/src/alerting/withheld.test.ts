import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAlertingFixture, minuteMs } from '../testing/alerting-fixture.ts';
import { withheldReasons } from './withheld.ts';

test('what held a message or left it out is counted once for each time, by its reason', () => {
  const counted = withheldReasons(
    [
      { action: 'detected' },
      { action: 'pending', reason: 'alertDelay' },
      { action: 'suppressed', reason: 'silence' },
      { action: 'notRouted', reason: 'unknownChannel' },
      { action: 'occurrence', reason: 'counted' },
      { action: 'occurrence', reason: 'duplicate' },
      { action: 'cancelled', reason: 'reopened' },
      { action: 'cancelled', reason: 'clearedBeforeSent' },
      { action: 'collapsed', reason: 'twin' },
      { action: 'queued', reason: 'firing' },
    ],
    undefined,
  );
  assert.deepEqual(counted, ['alertDelay', 'silence', 'unknownChannel', 'duplicate', 'clearedBeforeSent', 'collapsed']);
});

test('a message that is owed counts when that begins, and not each time it is looked at', () => {
  const held = [{ action: 'held', reason: 'storm' }] as const;
  assert.deepEqual(withheldReasons(held, undefined), ['storm']);
  assert.deepEqual(withheldReasons(held, { state: 'active', dueAt: undefined }), ['storm']);
  assert.deepEqual(withheldReasons(held, { state: 'active', dueAt: 1 }), []);
});

test('an alert that waits, and one that names a channel nobody knows, say so to the metrics', async (t) => {
  const { fails } = await anAlertingFixture(t);
  const [waiting] = await fails({ rules: { alertDelayMs: 10 * minuteMs } });
  assert.deepEqual([waiting?.withheld, waiting?.unsent], [['alertDelay'], []]);
  const other = await anAlertingFixture(t);
  const alerting = { enabled: true, channelRefs: [{ name: 'nobody', severities: [] }] };
  const [unrouted] = await other.fails({ rules: { alerting } });
  assert.deepEqual(unrouted?.withheld, ['unknownChannel']);
});

test('a message that is taken back because all is well again is over, and counted so', async (t) => {
  const { fails, succeeds } = await anAlertingFixture(t);
  await fails();
  const [ended] = await succeeds();
  assert.deepEqual(ended?.withheld, [], 'another one tells it');
  assert.deepEqual(ended.unsent, [{ channel: 'team-chat', kind: 'firing', result: 'cancelled' }]);
});
