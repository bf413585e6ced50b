import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StoredAlert, ToldDelivery, ToldFacts } from '@cronjob-monitor/shared/store';
import { presentTold } from './told.ts';

const now = Date.parse('2026-11-21T06:00:00.000Z');
const iso = (at: number): string => new Date(at).toISOString();

function anAlert(changes: Partial<StoredAlert> = {}): StoredAlert {
  return {
    cronJobId: 1,
    monitorId: 1,
    id: 'a',
    type: 'jobFailed',
    subject: undefined,
    severity: 'warning',
    severitySource: 'default',
    state: 'active',
    closeCause: undefined,
    suppressedBy: undefined,
    dueAt: undefined,
    message: '',
    cronJob: { namespace: 'prod', name: 'backup' },
    monitor: { namespace: 'prod', name: 'dr' },
    sinceAt: now,
    detectedAt: now,
    endedAt: undefined,
    count: 1,
    delayed: false,
    lastNotifiedAt: undefined,
    figures: undefined,
    context: undefined,
    flappingUntil: undefined,
    isWellForNow: false,
    mutedThere: {},
    fault: undefined,
    acknowledgement: undefined,
    ...changes,
  };
}

test('an alert that came back and is held says so, whatever was told of its earlier end', () => {
  const decision = { action: 'held', reason: 'duplicate', untilAt: now + 1 } as const;
  const closing = aDelivery({ kind: 'closing' });
  const told = presentTold(anAlert(), { deliveries: [aDelivery(), closing], decision }, now);
  assert.deepEqual([told.state, told.reason, told.until], ['held', 'duplicate', iso(now + 1)]);
  assert.equal(presentTold(anAlert(), { deliveries: [aDelivery()], decision }, now).state, 'sent');
});

test('an alert that is over was told when its end was, whatever held that before', () => {
  const over = anAlert({ state: 'resolved', endedAt: now });
  const decision = { action: 'held', reason: 'startupGrace', untilAt: now + 1 } as const;
  const told = presentTold(over, { deliveries: [aDelivery(), aDelivery({ kind: 'closing' })], decision }, now);
  assert.deepEqual([told.state, told.reason, told.until], ['sent', null, null]);
});

test('an alert that is over waits for nothing: what held it back is said without an end', () => {
  const over = anAlert({ state: 'resolved', endedAt: now });
  const decision = { action: 'held', reason: 'dependsOn', untilAt: now + 1 } as const;
  const told = presentTold(over, { deliveries: [], decision }, now);
  assert.deepEqual([told.state, told.reason, told.until], ['held', 'dependsOn', null]);
});

for (const reason of ['dependsOn', 'silence'] as const)
  test(`an alert whose message was taken back before it left is held for what holds it: ${reason}`, () => {
    const decision = { action: 'held', reason, untilAt: undefined } as const;
    const deliveries = [aDelivery({ state: 'cancelled' })];
    const told = presentTold(anAlert(), { deliveries, decision }, now);
    assert.deepEqual([told.state, told.reason, told.until], ['held', reason, null]);
  });

function aDelivery(changes: Partial<ToldDelivery> = {}): ToldDelivery {
  return {
    id: 'd',
    channel: 'team-chat',
    kind: 'firing',
    state: 'sent',
    stateReason: undefined,
    isTurn: false,
    attempts: 1,
    createdAt: now,
    endedAt: now,
    expiresAt: now + 86_400_000,
    nextAttemptAt: undefined,
    restsUntil: undefined,
    category: undefined,
    httpStatus: undefined,
    ...changes,
  };
}

const withDecision = (action: 'notRouted' | 'held', reason: 'noChannel' | 'storm', untilAt?: number): ToldFacts => ({
  deliveries: [],
  decision: { action, reason, untilAt },
});
const withReason = (reason: 'instead'): Pick<ToldFacts, 'decision'> => ({
  decision: { action: 'notRouted', reason, untilAt: undefined },
});
const withDeliveries = (...deliveries: readonly Partial<ToldDelivery>[]): ToldFacts => ({
  deliveries: deliveries.map(aDelivery),
  decision: undefined,
});

/** What is known, and state, reason and until that follow. */
const cases: readonly (readonly [string, StoredAlert, ToldFacts | undefined, readonly (string | null)[]])[] = [
  ['a message was sent', anAlert(), withDeliveries({}), ['sent', null, null]],
  [
    'it was sent to others in the place of the owner',
    anAlert(),
    { ...withDeliveries({ state: 'digested' }), ...withReason('instead') },
    ['sent', 'instead', null],
  ],
  ['nothing is known yet', anAlert(), undefined, ['waiting', null, null]],
  ['no channel takes it', anAlert(), withDecision('notRouted', 'noChannel'), ['none', 'noChannel', null]],
  [
    'it cleared before it left',
    anAlert({ state: 'resolved', endedAt: now }),
    withDeliveries({ state: 'cancelled' }),
    ['none', 'clearedBeforeSent', null],
  ],
  [
    'it was taken back with its channel, and holds',
    anAlert(),
    {
      ...withDeliveries({ state: 'cancelled' }),
      decision: { action: 'notRouted', reason: 'channelDeleted', untilAt: undefined },
    },
    ['none', 'channelDeleted', null],
  ],
  [
    'it cleared, and what would have told that went with its channel',
    anAlert({ state: 'resolved', endedAt: now }),
    {
      ...withDeliveries({ state: 'sent' }, { kind: 'closing', state: 'cancelled' }),
      decision: { action: 'notRouted', reason: 'channelDeleted', untilAt: undefined },
    },
    ['none', 'channelDeleted', null],
  ],
  [
    'a channel gave it up though another has it',
    anAlert(),
    withDeliveries({}, { channel: 'mail', state: 'dead' }),
    ['failed', 'rejected', null],
  ],
  [
    'its time ran out',
    anAlert(),
    withDeliveries({ state: 'dead', endedAt: now + 86_400_000 }),
    ['failed', 'expired', null],
  ],
  [
    'only the newest message of a channel counts',
    anAlert(),
    withDeliveries({ state: 'dead' }, {}),
    ['sent', null, null],
  ],
  [
    'a person muted it',
    anAlert({ state: 'suppressed', suppressedBy: 'silence', dueAt: now + 1 }),
    undefined,
    ['held', 'silence', iso(now + 1)],
  ],
  ['its channel is parked', anAlert(), withDeliveries({ state: 'parked' }), ['held', 'parked', null]],
  ['a storm holds it', anAlert(), withDecision('held', 'storm', now + 1), ['held', 'storm', iso(now + 1)]],
  [
    'alertDelay runs',
    anAlert({ state: 'pending', dueAt: now + 1 }),
    undefined,
    ['waiting', 'alertDelay', iso(now + 1)],
  ],
  [
    'it is tried again later',
    anAlert(),
    withDeliveries({ state: 'ready', stateReason: 'backoff', nextAttemptAt: now + 1 }),
    ['waiting', 'backoff', iso(now + 1)],
  ],
  [
    'its channel rests, and it could go itself since three minutes',
    anAlert(),
    withDeliveries({ state: 'ready', nextAttemptAt: now - 180_000, restsUntil: now + 300_000 }),
    ['waiting', 'circuit', iso(now + 300_000)],
  ],
  [
    'its channel rests, and its own next try comes after that',
    anAlert(),
    withDeliveries({ state: 'ready', stateReason: 'backoff', nextAttemptAt: now + 400_000, restsUntil: now + 300_000 }),
    ['waiting', 'circuit', iso(now + 400_000)],
  ],
  [
    'its channel is probed by another message',
    anAlert(),
    withDeliveries({ state: 'ready', nextAttemptAt: now - 180_000, restsUntil: now - 1_000 }),
    ['waiting', 'circuit', null],
  ],
  [
    'it is the probe of its channel',
    anAlert(),
    withDeliveries({ state: 'claimed', nextAttemptAt: now - 180_000, restsUntil: now - 1_000 }),
    ['waiting', null, null],
  ],
  [
    'it was due three minutes ago and was not taken yet',
    anAlert(),
    withDeliveries({ state: 'ready', nextAttemptAt: now - 180_000 }),
    ['waiting', null, null],
  ],
  [
    'a later channel waits for its turn',
    anAlert(),
    withDeliveries({}, { channel: 'on-call', state: 'ready', stateReason: 'after', nextAttemptAt: now, isTurn: true }),
    ['sent', null, null],
  ],
  [
    'its only channel waits for its turn',
    anAlert(),
    withDeliveries({ state: 'ready', stateReason: 'after', nextAttemptAt: now + 1, isTurn: true }),
    ['waiting', 'after', iso(now + 1)],
  ],
  [
    'its only channel was spared by an acknowledgement',
    anAlert({ acknowledgement: { by: 'ana', at: now, note: undefined, expiresAt: undefined } }),
    withDeliveries({ state: 'cancelled', isTurn: true }),
    ['none', 'acknowledged', null],
  ],
  [
    'the monitor named its only channel no more as its turn came',
    anAlert(),
    withDeliveries({ state: 'cancelled', isTurn: true }),
    ['none', 'noChannel', null],
  ],
  ['it is on its way', anAlert(), withDeliveries({ state: 'claimed' }), ['waiting', null, null]],
];

for (const [title, alert, facts, expected] of cases) {
  test(`says ${expected[0]} ${expected[1] ?? ''} when ${title}`, () => {
    const { state, reason, until } = presentTold(alert, facts, now);
    assert.deepEqual([state, reason, until], expected);
  });
}

const muted = { 'team-chat': { by: 'ana', says: 'silenced in Alertmanager by ana', untilAt: now + 1 } };

for (const [title, alert, facts, word] of [
  ['a silence', anAlert({ state: 'suppressed', suppressedBy: 'silence' }), undefined, 'silenced'],
  ['a silence in Alertmanager', anAlert({ mutedThere: muted }), withDeliveries({}), 'silenced'],
  ['a window', anAlert({ state: 'suppressed', suppressedBy: 'maintenance' }), undefined, 'maintenance'],
  ['a twin that tells it', anAlert(), withDeliveries({ state: 'collapsed' }), 'alreadyTold'],
  ['a storm', anAlert(), withDecision('held', 'storm'), 'manyAtOnce'],
  ['a rate limit', anAlert(), withDeliveries({ state: 'ready', stateReason: 'rateLimit' }), 'manyAtOnce'],
  ['a digest that told it', anAlert(), withDeliveries({ state: 'digested' }), 'manyAtOnce'],
  [
    'no hold, where one channel heard it and another in a digest',
    anAlert(),
    withDeliveries({}, { channel: 'mail', state: 'digested' }),
    null,
  ],
  ['no hold, where no channel is named', anAlert(), withDecision('notRouted', 'noChannel'), null],
  ['no hold, where it failed', anAlert(), withDeliveries({ state: 'dead' }), null],
  ['no hold, where it is on its way', anAlert(), withDeliveries({ state: 'claimed' }), null],
  [
    'no hold, where the monitor is gone',
    anAlert({ state: 'suppressed', suppressedBy: 'monitorGone' }),
    undefined,
    null,
  ],
] as const) {
  test(`has the word ${word} for ${title}`, () => assert.equal(presentTold(alert, facts, now).word, word));
}

test('names the newest message of each channel', () => {
  const facts = withDeliveries({ id: 'one' }, { id: 'two', kind: 'reminder' }, { id: 'three', channel: 'mail' });
  assert.deepEqual(
    presentTold(anAlert(), facts, now).channels.map(({ channel, deliveryId, kind }) => [channel, deliveryId, kind]),
    [
      ['team-chat', 'two', 'reminder'],
      ['mail', 'three', 'firing'],
    ],
  );
});
