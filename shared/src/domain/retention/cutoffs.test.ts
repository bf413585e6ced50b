import assert from 'node:assert/strict';
import test from 'node:test';
import { cutoffsOf, purgeDueAt, resetsOnRecreation, retentionRuleOf, type RetentionRule } from './cutoffs.ts';
import { dayMs } from '../duration.ts';

const now = Date.UTC(2026, 10, 21);
const defaults = { defaultDays: 30, maxDays: 90, logDays: 0 };

const silent: RetentionRule = {
  retentionDays: undefined,
  logRetentionDays: undefined,
  onCronJobDeletion: 'retain',
  purgeAfterDays: undefined,
  onRecreation: 'retain',
};
const rule = (changes: Partial<RetentionRule>): RetentionRule => ({ ...silent, ...changes });

/** Days that runs and texts are kept. */
function keptDays(rules: readonly RetentionRule[], of: Partial<typeof defaults> = {}): [number, number] {
  const { runsBefore, textBefore } = cutoffsOf(rules, { ...defaults, ...of }, now);
  return [(now - runsBefore) / dayMs, (now - textBefore) / dayMs];
}

test('without a monitor the configuration holds', () => {
  assert.deepEqual(keptDays([]), [30, 30]);
  assert.deepEqual(keptDays([], { logDays: 7 }), [30, 7]);
  assert.deepEqual(keptDays([silent], { logDays: 7 }), [30, 7]);
});

test('a retention above the ceiling is clamped, logs with it', () => {
  assert.deepEqual(keptDays([rule({ retentionDays: 400, logRetentionDays: 200 })]), [90, 90]);
  assert.deepEqual(keptDays([rule({ retentionDays: 400, logRetentionDays: 20 })]), [90, 20]);
});

test('logs are never kept longer than their runs', () => {
  assert.deepEqual(keptDays([rule({ retentionDays: 5 })]), [5, 5]);
  assert.deepEqual(keptDays([rule({ retentionDays: 5, logRetentionDays: 20 })]), [5, 5]);
  assert.deepEqual(keptDays([rule({ retentionDays: 60 })]), [60, 30]);
});

test('of several monitors the longest retention holds, and one that says nothing means the usual one', () => {
  assert.deepEqual(keptDays([rule({ retentionDays: 7 }), rule({ retentionDays: 14, logRetentionDays: 2 })]), [14, 7]);
  assert.deepEqual(keptDays([rule({ retentionDays: 7 }), silent]), [30, 30]);
  assert.deepEqual(keptDays([rule({ retentionDays: 60, logRetentionDays: 3 }), silent], { logDays: 5 }), [60, 5]);
});

test('a purge needs every monitor that selected the CronJob when it was deleted', () => {
  const purge = rule({ onCronJobDeletion: 'purge' });
  const later = rule({ onCronJobDeletion: 'purge-after-days', purgeAfterDays: 3 });
  assert.equal(purgeDueAt([purge], now), now);
  assert.equal(purgeDueAt([later], now), now + 3 * dayMs);
  assert.equal(purgeDueAt([purge, later], now), now + 3 * dayMs, 'the latest of them');
  assert.equal(purgeDueAt([purge, silent], now), undefined);
  assert.equal(purgeDueAt([], now), undefined, 'not asked for');
  assert.equal(purgeDueAt([rule({ onCronJobDeletion: 'purge-after-days' })], now), undefined, 'after how many days?');
  assert.equal(purgeDueAt([rule({ onCronJobDeletion: 'purge-after-days', purgeAfterDays: 0 })], now), now);
});

test('a reset needs every monitor of the new CronJob', () => {
  const reset = rule({ onRecreation: 'reset' });
  assert.equal(resetsOnRecreation([reset]), true);
  assert.equal(resetsOnRecreation([reset, silent]), false);
  assert.equal(resetsOnRecreation([]), false);
});

test('what a stored spec does not say plainly deletes nothing', () => {
  for (const spec of [
    undefined,
    null,
    {},
    7,
    { dataRetention: [] },
    { dataRetention: { onCronJobDeletion: 'PURGE' } },
  ]) {
    assert.deepEqual(retentionRuleOf(spec), silent, JSON.stringify(spec));
  }
  assert.deepEqual(
    retentionRuleOf({
      dataRetention: { retentionDays: '7', logRetentionDays: 0, purgeAfterDays: -1, onRecreation: 1 },
    }),
    silent,
  );
  const whole = {
    retentionDays: 7,
    logRetentionDays: 3,
    onCronJobDeletion: 'purge-after-days',
    purgeAfterDays: 0,
    onRecreation: 'reset',
  };
  assert.deepEqual(retentionRuleOf({ dataRetention: { ...whole, storeLogs: true } }), whole);
});
