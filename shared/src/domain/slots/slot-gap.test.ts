import assert from 'node:assert/strict';
import { test } from 'node:test';
import { slotGapMs } from './tolerance.ts';

const hour = 3_600_000;
const at = (text: string): number => Date.parse(`2026-11-${text}Z`);

const rows: [string, string, { slotAt?: number; createdAt: number }, number | undefined][] = [
  ['a nightly run', '30 2 * * *', { slotAt: at('21T02:30:00'), createdAt: at('21T02:30:01') }, 24 * hour],
  ['of a run by hand: the slots before and after it', '0 */6 * * *', { createdAt: at('21T07:12:13') }, 6 * hour],
  ['of a run by hand at the second of a slot', '0 */6 * * *', { createdAt: at('21T06:00:00') }, 6 * hour],
  ['Friday to Monday', '0 9 * * 1-5', { slotAt: at('20T09:00:00'), createdAt: at('20T09:00:00') }, 72 * hour],
  ['an interval', '@every 90m', { createdAt: at('21T07:12:13') }, 1.5 * hour],
  ['a schedule that cannot be read', 'every day', { createdAt: at('21T07:12:13') }, undefined],
  ['a day that never comes', '0 0 30 2 *', { createdAt: at('21T07:12:13') }, undefined],
];
for (const [title, schedule, run, gap] of rows)
  test(`gap between slots: ${title}`, () =>
    assert.equal(slotGapMs(schedule, 'UTC', { slotAt: undefined, ...run }), gap));

test('gap between slots: the night on which the clocks go back is an hour longer', () => {
  const slotAt = Date.parse('2026-10-24T00:30:00Z');
  assert.equal(slotGapMs('30 2 * * *', 'Europe/Berlin', { slotAt, createdAt: slotAt }), 24 * hour);
  const next = Date.parse('2026-10-25T00:30:00Z');
  assert.equal(
    slotGapMs('30 3 * * *', 'Europe/Berlin', { slotAt: next + hour - 24 * hour, createdAt: next }),
    25 * hour,
  );
});
