import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Delivery } from '@cronjob-monitor/shared/contract';
import { channelConfigLines } from './channel-config.ts';
import {
  channelKindText,
  channelMark,
  deliveryAbout,
  deliveryAnswer,
  nextStep,
  readyText,
  testText,
} from './channels.ts';

const nowMs = Date.parse('2026-11-21T14:03:00.000Z');
const viewer = { nowMs, timeZone: 'UTC' };
const stats = {
  alertsSentTotal: 12,
  alertsFailedTotal: 3,
  consecutiveFailures: 0,
  lastAlertTime: null,
  lastFailedTime: null,
  lastFailedError: null,
};
const at = (clock: string): string => `2026-11-21T${clock}.000Z`;

describe('a channel', () => {
  test('says what it is', () => {
    assert.equal(channelKindText({ type: 'chat', config: { channel: '#ops' } }), 'chat, #ops');
    assert.equal(channelKindText({ type: 'chat', config: { format: 'teams', channel: null } }), 'Microsoft Teams');
    assert.equal(channelKindText({ type: 'chat', config: { format: 'slack', channel: '#ops' } }), 'Slack, #ops');
    assert.equal(channelKindText({ type: 'email', config: { to: ['a@x', 'b@x'] } }), 'email, to a@x, b@x');
    assert.equal(channelKindText({ type: 'paging', config: { severity: null } }), 'paging');
  });

  test('says how it stands and what to do', () => {
    assert.equal(readyText({ reason: 'SecretNotFound', message: '' }), 'Its Secret does not exist');
    assert.equal(readyText({ reason: 'Unauthorized', message: 'It answered 401' }), 'It answered 401');
    assert.match(nextStep({ ready: false, reason: 'Unauthorized', stats }, viewer) ?? '', /^Renew the credentials/);
    assert.equal(nextStep({ ready: true, reason: 'Validated', stats }, viewer), undefined);
    const failed = { ...stats, lastFailedTime: at('13:00'), lastFailedError: 'it answered 500' };
    assert.match(
      nextStep({ ready: true, reason: 'Validated', stats: failed }, viewer) ?? '',
      /^Last failure .*: it answered 500\.$/,
    );
    assert.equal(channelMark({ ready: false, reason: 'NotChecked' }).word, 'Not checked');
    assert.equal(channelMark({ ready: false, reason: 'Gone' }).word, 'Not ready');
  });

  const test200 = { success: true, message: '', deliveryId: 'd', category: null, httpStatus: 200 } as const;
  const rows: readonly (readonly [Partial<Parameters<typeof testText>[0]>, string])[] = [
    [{}, 'Accepted'],
    [{ success: false, category: 'unauthorized', httpStatus: 401 }, 'Refused: the receiver answered 401'],
    [{ success: false, category: 'noController', httpStatus: null }, 'No controller took it: none leads'],
    [
      { success: false, category: 'waitExceeded', httpStatus: null },
      'Not known: no answer within 15 s. It may still arrive',
    ],
    [{ success: false, category: 'tls', httpStatus: null }, 'Failed: no secure connection'],
    [
      { success: false, category: 'secret', httpStatus: null, message: 'Secret a/b is gone' },
      'Failed: Secret a/b is gone',
    ],
  ];
  for (const [result, text] of rows)
    test(`tested: ${text}`, () => assert.equal(testText({ ...test200, ...result }), text));

  test('shows where its Secrets are, and marks the one that cannot be used', () => {
    const lines = channelConfigLines({
      urlSecretRef: { name: 'hooks', namespace: 'ops', key: 'url', usable: false },
      headers: { 'X-Team': '***' },
      to: [],
      payloadTemplate: null,
      newField: 3,
    });
    assert.deepEqual(
      lines.map(({ name, says, isWrong }) => [name, says, isWrong]),
      [
        ['Address', 'Secret ops/hooks, key url: it cannot be used', true],
        ['Headers', 'X-Team: ***', false],
        ['To', 'none', false],
        ['Payload template', 'not set', false],
        ['NewField', '3', false],
      ],
    );
  });
});

describe('a delivery', () => {
  const delivery = {
    state: 'sent',
    kind: 'firing',
    type: 'jobFailed',
    attempts: 2,
    lastError: null,
    nextAttemptAt: null,
    stateReason: null,
    sentAt: at('09:51:00'),
  } as Delivery; // what its sentence is made of
  const refused = { category: 'rejected', message: 'It answered 400', httpStatus: 400, at: at('09:50:00') } as const;
  const rows: readonly (readonly [Partial<Delivery>, string])[] = [
    [{}, '09:51, 2nd try'],
    [{ state: 'dead', lastError: refused }, 'It answered 400'],
    [{ state: 'dead' }, 'Its time ran out'],
    [{ state: 'parked' }, 'Waits until the channel is mended'],
    [{ state: 'ready', nextAttemptAt: at('14:10:00'), stateReason: 'rateLimit' }, 'Next try 14:10: the rate limit'],
    [{ state: 'ready', nextAttemptAt: at('09:10:00') }, 'Waits for its turn'],
    [{ state: 'claimed' }, 'On its way'],
    [{ state: 'digested' }, 'Told inside a digest'],
  ];
  for (const [changes, text] of rows)
    test(`says ${text}`, () => assert.equal(deliveryAnswer({ ...delivery, ...changes }, viewer), text));

  test('is about an alert, or it is a test or a digest', () => {
    assert.equal(deliveryAbout(delivery), 'jobFailed');
    assert.equal(deliveryAbout({ type: null, kind: 'test' }), 'A test');
    assert.equal(deliveryAbout({ type: null, kind: 'digest' }), 'A digest of several alerts');
  });
});
