import assert from 'node:assert/strict';
import { test } from 'node:test';
import { windowAt, windowsBetween, type MaintenanceWindow } from './maintenance.ts';

const hour = 3_600_000;
const at = (text: string) => Date.parse(`${text}:00Z`);
const sunday: MaintenanceWindow = {
  name: 'storage',
  schedule: '0 1 * * 0',
  durationMs: 3 * hour,
  timeZone: 'UTC',
  suppressAlerts: true,
  excludeFromSla: true,
};

for (const [text, isIn] of [
  ['2026-03-01T00:59', false],
  ['2026-03-01T01:00', true],
  ['2026-03-01T03:59', true],
  ['2026-03-01T04:00', false],
  ['2026-03-02T02:00', false],
] as const) {
  test(`a window from Sunday 01:00 for three hours ${isIn ? 'covers' : 'does not cover'} ${text}`, () => {
    assert.equal(windowAt([sunday], at(text)) !== undefined, isIn);
  });
}

test('a window is told by its start and its end', () => {
  assert.deepEqual(windowAt([sunday], at('2026-03-01T02:00')), {
    name: 'storage',
    fromAt: at('2026-03-01T01:00'),
    toAt: at('2026-03-01T04:00'),
  });
});

test('a window begins in its own zone', () => {
  const zurich = { ...sunday, timeZone: 'Europe/Zurich' };
  assert.ok(windowAt([zurich], at('2026-03-01T00:30')));
});

test('of two windows that cover an instant the one that ends last is told', () => {
  const long = { ...sunday, name: 'long', durationMs: 6 * hour };
  assert.equal(windowAt([sunday, long], at('2026-03-01T02:00'))?.name, 'long');
});

test('windows that touch follow one another without a break', () => {
  const hourly = { ...sunday, schedule: '0 1-4 * * 0', durationMs: hour };
  assert.equal(windowAt([hourly], at('2026-03-01T01:30'))?.toAt, at('2026-03-01T05:00'));
});

test('a window whose schedule or zone cannot be evaluated covers nothing', () => {
  assert.equal(
    windowAt(
      [
        { ...sunday, schedule: 'on sundays' },
        { ...sunday, timeZone: 'PST' },
      ],
      at('2026-03-01T02:00'),
    ),
    undefined,
  );
});

test('the windows of a week are told in their order, also one that has begun before it', () => {
  const daily = { ...sunday, name: 'daily', schedule: '0 23 * * *' };
  const span = { from: at('2026-03-01T00:00'), until: at('2026-03-03T12:00'), most: 10 };
  assert.deepEqual(
    windowsBetween([sunday, daily], span).map(({ name, fromAt }) => `${name} ${new Date(fromAt).toISOString()}`),
    [
      'daily 2026-02-28T23:00:00.000Z',
      'storage 2026-03-01T01:00:00.000Z',
      'daily 2026-03-01T23:00:00.000Z',
      'daily 2026-03-02T23:00:00.000Z',
    ],
  );
  assert.equal(windowsBetween([daily], { ...span, most: 2 }).length, 2);
  assert.deepEqual(windowsBetween([{ ...sunday, schedule: 'on sundays' }], span), []);
});
