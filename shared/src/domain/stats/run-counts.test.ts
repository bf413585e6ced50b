import assert from 'node:assert/strict';
import test from 'node:test';
import { dayOf, startOfDay } from '../duration.ts';
import { countedDurationMs, counterOf } from './run-counts.ts';

const run = { status: 'success', trigger: 'scheduled', inMaintenance: false, durationMs: 5_000 } as const;

test('a scheduled run moves the counter of its outcome', () => {
  for (const status of ['success', 'failed', 'replaced', 'deleted', 'unobserved'] as const) {
    assert.equal(counterOf({ ...run, status }), status);
  }
});

test('a run that no schedule started is manual, however it ended', () => {
  for (const trigger of ['manual', 'rerun', 'unmatched'] as const) {
    assert.equal(counterOf({ ...run, trigger }), 'manual');
    assert.equal(counterOf({ ...run, trigger, status: 'failed' }), 'manual');
    assert.equal(counterOf({ ...run, trigger, inMaintenance: true }), 'manual');
  }
});

test('a run in a window that is left out of the SLA enters no rate', () => {
  assert.equal(counterOf({ ...run, inMaintenance: true }), undefined);
  assert.equal(counterOf({ ...run, inMaintenance: true, status: 'failed' }), undefined);
  assert.equal(counterOf({ ...run, inMaintenance: true, status: 'replaced' }), 'replaced');
});

test('only successful scheduled runs have a duration that counts', () => {
  assert.equal(countedDurationMs(run), 5_000);
  assert.equal(countedDurationMs({ ...run, status: 'failed' }), undefined);
  assert.equal(countedDurationMs({ ...run, trigger: 'manual' }), undefined);
  assert.equal(countedDurationMs({ ...run, inMaintenance: true }), undefined);
  assert.equal(countedDurationMs({ ...run, durationMs: undefined }), undefined);
});

test('a day begins at midnight UTC and holds its last millisecond', () => {
  const midnight = Date.UTC(2026, 10, 21);
  assert.equal(startOfDay(dayOf(midnight)), midnight);
  assert.equal(dayOf(midnight - 1), dayOf(midnight) - 1);
  assert.equal(dayOf(midnight + 86_399_999), dayOf(midnight));
  assert.equal(dayOf(0), 0);
});
