import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Drill } from '@cronjob-monitor/shared/contract';
import { drillText } from './drills.ts';

const viewer = { nowMs: Date.parse('2026-11-21T14:03:00.000Z'), timeZone: 'UTC' };
const at = (clock: string): string => `2026-11-21T${clock}:00.000Z`;
const waiting: Drill = {
  id: 'r1',
  channel: 'ops',
  deliveryId: 'd1',
  outcome: 'waiting',
  dueAt: at('09:00'),
  sentAt: null,
  ackByAt: null,
  ackedAt: null,
  ackedBy: null,
  askedBy: null,
};
const sent: Drill = { ...waiting, sentAt: at('09:01'), ackByAt: at('10:01') };

for (const [drill, text] of [
  [waiting, 'On its way: no receiver has accepted it yet'],
  [sent, 'Delivered 09:01, to be acknowledged until 10:01'],
  [{ ...sent, outcome: 'reached' }, 'Delivered 09:01, not acknowledged until 10:01'],
  [{ ...waiting, outcome: 'failed' }, 'No receiver accepted it in time'],
  [
    { ...sent, outcome: 'proved', ackedAt: at('09:13'), ackedBy: 'ana' },
    'Acknowledged 09:13 by ana, 12 min after it was delivered',
  ],
  [{ ...waiting, outcome: 'proved', ackedAt: at('09:13') }, 'Acknowledged 09:13, no name given'],
] satisfies (readonly [Drill, string])[])
  test(`a drill says: ${text}`, () => assert.equal(drillText(drill, viewer), text));

test('a name that turns what others read is shown as it is written, and turns nothing', () => {
  const drill: Drill = { ...sent, outcome: 'proved', ackedAt: at('09:13'), ackedBy: 'ana\u202egnihton' };
  assert.ok(!drillText(drill, viewer).includes('\u202e'));
});
