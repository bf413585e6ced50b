import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SpecEpoch } from './epoch.ts';
import { expectedSlots, nthExpectedAfter } from './expected.ts';

const at = (text: string): number => Date.parse(`2026-03-02T${text}:00Z`);
const clockOf = (instant: number | undefined): string | undefined =>
  instant === undefined ? undefined : new Date(instant).toISOString().slice(11, 16);
const epoch = (schedule: string, from: string, to?: string, more: Partial<SpecEpoch> = {}): SpecEpoch => ({
  fromAt: at(from),
  toAt: to === undefined ? undefined : at(to),
  schedule,
  timeZone: undefined,
  suspended: false,
  policy: 'Allow',
  deadlineS: undefined,
  generation: 1,
  certain: true,
  ...more,
});
const start = { afterAt: at('00:00'), createdAt: at('00:00'), anchorAt: undefined, defaultZone: 'UTC' };
const slots = (epochs: SpecEpoch[], through: string, more: object = {}): unknown =>
  expectedSlots(epochs, { ...start, ...more }, at(through)).slots.map((slot) => [
    clockOf(slot.at),
    clockOf(slot.nextAt),
  ]);

test('a slot is followed by that of the next epoch where an edit lies between', () =>
  assert.deepEqual(slots([epoch('0 * * * *', '00:00', '01:30'), epoch('45 * * * *', '01:30')], '02:00'), [
    ['01:00', '01:45'],
    ['01:45', '02:45'],
  ]));

test('an edit without a slot yet says what follows all the same', () =>
  assert.deepEqual(slots([epoch('0 * * * *', '00:00', '01:30'), epoch('45 3 * * *', '01:30')], '01:40'), [
    ['01:00', '03:45'],
  ]));

test('intervals count from the last start and not from what was due in between', () => {
  const epochs = [epoch('@every 40m', '00:00', '02:00'), epoch('@every 1h', '02:00')];
  assert.deepEqual(slots(epochs, '04:00', { afterAt: at('00:10'), anchorAt: at('00:10') }), [
    ['00:50', '01:30'],
    ['01:30', '02:10'],
    ['02:10', '03:10'],
    ['03:10', '04:10'],
  ]);
});

test('a start off the phase is the new phase, and was due at no slot', () => {
  const epochs = [epoch('@every 1h', '00:00', undefined, { deadlineS: 7_200 })];
  assert.deepEqual(slots(epochs, '05:00', { afterAt: at('00:10'), anchorAt: at('00:10'), startedAt: [at('02:35')] }), [
    ['01:10', '02:10'],
    ['02:10', '03:35'],
    ['03:35', '04:35'],
    ['04:35', '05:35'],
  ]);
});

test('of two starts that are remembered the newest counts, wherever it is remembered', () => {
  const epochs = [epoch('@every 1h', '00:00')];
  const more = { afterAt: at('01:00'), anchorAt: at('00:50'), startedAt: [at('00:20'), at('00:40')] };
  assert.deepEqual(slots(epochs, '02:00', more), [['01:50', '02:50']]);
  assert.deepEqual(slots(epochs, '02:00', { ...more, anchorAt: at('00:30') }), [['01:40', '02:40']]);
});

test('with a deadline shorter than its interval nothing is ever due', () =>
  assert.deepEqual(slots([epoch('@every 1h', '00:00', undefined, { deadlineS: 600 })], '09:00'), []));

test('at most so many slots come at once, and it is said how far they reach', () => {
  const found = expectedSlots([epoch('* * * * *', '00:00')], start, at('09:00'), 5);
  assert.equal(found.slots.length, 5);
  assert.equal(found.throughAt, at('00:05'));
});

test('an epoch that is over is not looked at', () => {
  const epochs = [epoch('*/10 * * * *', '00:00', '01:00'), epoch('0 * * * *', '01:00')];
  assert.deepEqual(slots(epochs, '02:30', { afterAt: at('01:00') }), [['02:00', '03:00']]);
});

test('of the past a slot counts that was due then, and none that only a later schedule names', () => {
  const epochs = [epoch('0 20 * * *', '00:00', '08:10'), epoch('30 * * * *', '08:10')];
  const nth = (after: string, n: number): unknown => clockOf(nthExpectedAfter(epochs, 'UTC', at(after), n));
  assert.deepEqual([nth('01:00', 1), nth('01:00', 2), nth('09:00', 1)], ['08:30', '09:30', '09:30']);
  const tightened = [epoch('0 * * * *', '02:00', '03:30'), epoch('0 20 * * *', '03:30')];
  const both = [1, 4].map((n) => clockOf(nthExpectedAfter(tightened, 'UTC', at('00:00'), n)));
  assert.deepEqual(both, ['01:00', '20:00'], 'before what is known it asked for the same');
});
