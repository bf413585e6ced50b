import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anAlertMessage } from '../../testing/index.ts';
import { afterRefusedUpdate, evidenceWaitMs, isCompletable, isIncomplete } from './completion.ts';

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

for (const { state, attempts, pending, kind, owes } of [
  { state: 'sent', attempts: 1, pending: true, kind: 'firing', owes: true },
  { state: 'claimed', attempts: 1, pending: true, kind: 'reminder', owes: true },
  { state: 'ready', attempts: 1, pending: true, kind: 'flapping', owes: true },
  { state: 'ready', attempts: 0, pending: true, kind: 'firing', owes: false },
  { state: 'dead', attempts: 3, pending: true, kind: 'firing', owes: false },
  { state: 'digested', attempts: 1, pending: true, kind: 'firing', owes: false },
  { state: 'sent', attempts: 1, pending: false, kind: 'firing', owes: false },
  { state: 'sent', attempts: 1, pending: true, kind: 'closing', owes: false },
  { state: 'sent', attempts: 1, pending: true, kind: 'update', owes: false },
] as const) {
  const without = pending ? 'without its evidence' : 'with its evidence';
  test(`${kind} that is ${state} after ${attempts} attempts ${without} ${owes ? 'is' : 'is not'} to be completed`, () => {
    assert.equal(isIncomplete({ state, attempts }, { kind, data: anAlertMessage({ context: { pending } }) }), owes);
  });
}

test('an update is tried twice, and only where trying again may help', () => {
  assert.deepEqual(
    [
      afterRefusedUpdate('retry', 1),
      afterRefusedUpdate('retry', 2),
      afterRefusedUpdate('reduce', 1),
      afterRefusedUpdate('park', 1),
    ],
    ['retry', 'cancel', 'cancel', 'cancel'],
  );
});
