import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blindFromOf } from './watching.ts';

const now = Date.UTC(2026, 10, 21, 6);
const minuteMs = 60_000;
const state = (changes: Partial<Parameters<typeof blindFromOf>[0][number]> = {}) => {
  return { kind: 'Job' as const, freshThroughAt: now - minuteMs, trouble: undefined, ...changes };
};
const away = { sentence: 'cannot watch jobs: unreachable', isRefused: false, isUndefined: false };

test('a watch between two bookmarks sees what happens', () => {
  assert.equal(blindFromOf([state(), state({ kind: 'CronJob' })], now), undefined);
});

test('what happens is not seen from where the first watch in trouble, or silent for two minutes, was heard last', () => {
  assert.equal(blindFromOf([state({ trouble: away })], now), now - minuteMs);
  const silent = state({ kind: 'CronJob', freshThroughAt: now - 2 * minuteMs });
  assert.equal(blindFromOf([state({ trouble: away }), silent], now), now - 2 * minuteMs);
});

test('a watch that the server refuses, or of another kind, keeps no alert waiting', () => {
  const refused = { ...away, isRefused: true };
  assert.equal(blindFromOf([state({ trouble: refused, freshThroughAt: now - 60 * minuteMs })], now), undefined);
  assert.equal(blindFromOf([state({ kind: 'Pod', trouble: away })], now), undefined);
});
