import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noOffset, tallyZone, type ZoneTally, type ZonelessStart } from './zone-offset.ts';
import { hourMs } from '../duration.ts';

const at = (text: string): number => Date.parse(`2026-${text}Z`);
const after = (starts: readonly ZonelessStart[], from: ZoneTally = noOffset): number =>
  starts.reduce((tally, start) => tallyZone(tally, start, 'UTC'), from).offsetMs;
const daily = (hour: number, days = 5): ZonelessStart[] =>
  Array.from({ length: days }, (_, day) => ({
    schedule: '0 9 * * *',
    slotAt: at('03-02T00:00:00') + day * 24 * hourMs + hour * hourMs,
  }));

test('starts that fit our zone tell of no offset', () => assert.equal(after(daily(9)), 0));
test('five starts in a row at one offset do', () => {
  assert.equal(after(daily(7)), -2 * hourMs);
  assert.equal(after(daily(7, 4)), 0, 'four do not');
});
test('one that fits our zone and not the offset ends the row', () =>
  assert.equal(after([...daily(7, 4), ...daily(9, 1), ...daily(7, 4)]), 0));
test('an hourly schedule knows no hours and breaks no row', () =>
  assert.equal(
    after([...daily(7, 3), { schedule: '0 * * * *', slotAt: at('03-05T11:00:00') }, ...daily(7, 2)]),
    -2 * hourMs,
  ));
test('several CronJobs tell together', () =>
  assert.equal(
    after(
      [9, 10, 11, 12, 13].map((hour) => ({
        schedule: `0 ${hour} * * *`,
        slotAt: at('03-02T00:00:00') + (hour - 5) * hourMs,
      })),
    ),
    -5 * hourMs,
  ));
test('an offset that is over is given up after five starts that show it', () => {
  const adopted = { offsetMs: -2 * hourMs, inRow: {} };
  assert.equal(after(daily(9, 4), adopted), -2 * hourMs);
  assert.equal(after(daily(9), adopted), 0);
});
for (const schedule of ['@every 90m', 'TZ=Asia/Tokyo 0 9 * * *', 'every day']) {
  test(`${schedule} says nothing of the zone`, () =>
    assert.equal(after(Array.from({ length: 9 }, () => ({ schedule, slotAt: at('03-02T07:00:00') }))), 0));
}
