import assert from 'node:assert/strict';
import { test } from 'node:test';
import { evidenceWaitMs, isCompletable } from './completion.ts';

for (const { type, sendUpdates, completable, waitMs } of [
  { type: 'paging', sendUpdates: false, completable: true, waitMs: 0 },
  { type: 'webhook', sendUpdates: true, completable: true, waitMs: 250 },
  { type: 'webhook', sendUpdates: false, completable: false, waitMs: 250 },
  { type: 'chat', sendUpdates: false, completable: false, waitMs: 250 },
  { type: 'email', sendUpdates: false, completable: false, waitMs: 3_000 },
] as const) {
  const how = sendUpdates ? ' that takes updates' : '';
  test(`a message to ${type}${how} waits ${waitMs} ms for evidence and ${completable ? 'can' : 'cannot'} be completed`, () => {
    assert.equal(evidenceWaitMs({ type }, 250), waitMs);
    assert.equal(isCompletable({ type, sendUpdates }), completable);
  });
}

test('where messages wait for longer than a mail does, mails wait as long', () => {
  assert.equal(evidenceWaitMs({ type: 'email' }, 10_000), 10_000);
  assert.equal(evidenceWaitMs({ type: 'paging' }, 10_000), 0);
});
