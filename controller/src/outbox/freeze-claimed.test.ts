import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headingOf, isAboutAlert, type FrozenMessage, type Message } from '@cronjob-monitor/shared/domain';
import { anAlertMessage, aTestMessage } from '@cronjob-monitor/shared/testing';
import { sayHeld } from './freeze-claimed.ts';

function frozen(message: Message): FrozenMessage {
  return { message, heading: headingOf(message), place: null };
}

function alertOf({ message }: FrozenMessage): unknown {
  if (!isAboutAlert(message)) return undefined;
  const { heldBy, heldSeconds, notification } = message.data.alert;
  return [heldBy, heldSeconds, notification];
}

test('a message says what held it, and for how many whole seconds', () => {
  const message = frozen({ kind: 'firing', data: anAlertMessage({ alert: { heldBy: null, heldSeconds: 0 } }) });
  assert.deepEqual(alertOf(sayHeld(message, { by: 'circuit', ms: 90_900 })), ['circuit', 90, 1]);
  assert.deepEqual(alertOf(sayHeld(message, { by: 'parked', ms: 90_900, notification: 4 })), ['parked', 90, 4]);
  assert.deepEqual(alertOf(message), [null, 0, 1], 'the frozen one is as it was');
});

test('a longer hold that it speaks of already is left as it is', () => {
  const held = { heldBy: 'silence', heldSeconds: 7_200 } as const;
  const message = frozen({ kind: 'firing', data: anAlertMessage({ alert: held }) });
  assert.deepEqual(alertOf(sayHeld(message, { by: 'rateLimit', ms: 61_000 })), ['silence', 7_200, 1]);
});

test('a test is about no alert, and stays', () => {
  const message = frozen({ kind: 'test', data: aTestMessage() });
  assert.equal(sayHeld(message, { by: 'circuit', ms: 90_000 }), message);
});
