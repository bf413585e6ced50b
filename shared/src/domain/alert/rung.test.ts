import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rungOf, type RungFacts } from './rung.ts';

const minute = 60_000;
const now = 100 * minute;
const chat = { channel: 'team-chat', at: now - 15 * minute };
const facts: RungFacts = { told: [chat], note: undefined, unlessAcknowledged: true, mute: undefined };
const ana = { byWhom: 'ana', isInForce: true };

for (const [what, changes, words] of [
  ['says who was told before', {}, 'team-chat was told 15 min ago; it was not acknowledged.'],
  [
    'names each of those that were told before',
    { told: [chat, { channel: 'mail', at: now - 5 * minute }] },
    'team-chat was told 15 min ago, mail 5 min ago; it was not acknowledged.',
  ],
  [
    'names three and counts the others',
    { told: ['a', 'b', 'c', 'd', 'e'].map((channel) => ({ ...chat, channel })) },
    'a was told 15 min ago, b 15 min ago, c 15 min ago, 2 more; it was not acknowledged.',
  ],
  [
    'counts no minute less for the moment in which the message arrived there',
    {
      told: [
        { ...chat, at: chat.at + 900 },
        { channel: 'mail', at: now - 89_700 },
      ],
    },
    'team-chat was told 15 min ago, mail 1 min 30 s ago; it was not acknowledged.',
  ],
  ['says when the others could not be told', { told: [] }, 'No other channel has been told; it was not acknowledged.'],
  [
    'names who acknowledged where that does not keep it back',
    { note: ana, unlessAcknowledged: false },
    'team-chat was told 15 min ago; ana acknowledged it.',
  ],
  [
    'says that an acknowledgement has ended',
    { note: { ...ana, isInForce: false } },
    'team-chat was told 15 min ago; ana acknowledged it, and that has ended.',
  ],
] as const satisfies readonly (readonly [string, Partial<RungFacts>, string])[]) {
  test(`a channel that is told later ${what}`, () => {
    assert.deepEqual(rungOf({ ...facts, ...changes }, now), { kind: 'tell', words });
  });
}

test('an acknowledgement keeps a later channel from being told, muted or not', () => {
  const mute = { by: 'silence', ref: 's', untilAt: now + minute } as const;
  assert.deepEqual(rungOf({ ...facts, note: ana }, now), { kind: 'acknowledged' });
  assert.deepEqual(rungOf({ ...facts, note: ana, mute }, now), { kind: 'acknowledged' });
});

test('a silence holds a later channel back, and is asked again within a minute, for it may end early', () => {
  const mutedUntil = (untilAt: number): RungFacts => ({ ...facts, mute: { by: 'silence', ref: 's', untilAt } });
  assert.deepEqual(rungOf(mutedUntil(now + 10_000), now), { kind: 'hold', untilAt: now + 10_000 });
  assert.deepEqual(rungOf(mutedUntil(now + 60 * minute), now), { kind: 'hold', untilAt: now + minute });
});
