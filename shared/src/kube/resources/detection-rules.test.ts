import assert from 'node:assert/strict';
import { test } from 'node:test';
import { monitorDefaults } from '../../testing/index.ts';
import { decodeMonitorSpec } from './decode-monitor.ts';
import { detectionRulesOf, groupRulesOf } from './detection-rules.ts';

const defaults = { ...monitorDefaults, storeEvents: false };

function rulesOf(spec: object) {
  const decoded = decodeMonitorSpec({ metadata: {}, spec }, defaults);
  assert.ok(decoded.ok);
  return detectionRulesOf(decoded.spec, 'Europe/Berlin');
}

test('durations become milliseconds, and what is left out is off', () => {
  const rules = rulesOf({
    deadManSwitch: { enabled: true, maxTimeSinceLastSuccess: '25h' },
    sla: { maxDuration: '25m', finishBy: { time: '06:00' } },
    stuckJobs: { notStartedAfter: '5m' },
  });
  assert.equal(rules.deadMan?.maxSinceSuccessMs, 25 * 3_600_000);
  assert.equal(rules.deadMan.auto, undefined);
  assert.equal(rules.durations?.maxDurationMs, 25 * 60_000);
  assert.equal(rules.durations.minDurationMs, undefined);
  assert.equal(rules.stuck.notStarted?.notStartedAfterMs, 300_000);
  assert.equal(rulesOf({}).successRate, undefined);
  assert.equal(rules.suspended.alertIfSuspendedForMs, undefined);
});

test('a finishBy without a zone is in that of the CronJob', () => {
  assert.equal(rulesOf({ sla: { finishBy: { time: '06:00' } } }).finishBy?.timeZone, 'Europe/Berlin');
  assert.equal(rulesOf({ sla: { finishBy: { time: '06:00', timezone: 'UTC' } } }).finishBy?.timeZone, 'UTC');
});

test('a subject of stuck Jobs whose limit cannot be read is off, the others are on', () => {
  const { stuck } = rulesOf({ stuckJobs: { notStartedAfter: 'soon' } });
  assert.equal(stuck.notStarted, undefined);
  assert.equal(stuck.terminating?.terminatingAfterMs, 600_000);
  const { notStartedAfterMs, hopelessAfterMs } = stuck.overrunning ?? {};
  assert.deepEqual([notStartedAfterMs, hopelessAfterMs], [Infinity, 0], 'it keeps no Job from overrunning');
});

test('a group of Jobs is judged by how its Jobs end and how long they take, and by nothing that needs a schedule', () => {
  const sla = { maxDuration: '25m', minSuccessRate: 99, finishBy: { time: '06:00' } };
  const suspendedHandling = { alertIfSuspendedFor: '1d' };
  const rules = rulesOf({ deadManSwitch: { maxTimeSinceLastSuccess: '25h' }, sla, suspendedHandling });
  const { missedSchedule, deadMan, successRate, finishBy, output, suspended, ...judged } = groupRulesOf(rules);
  assert.deepEqual(
    [missedSchedule.enabled, deadMan, successRate, finishBy, output, suspended.alertIfSuspendedForMs],
    [false, undefined, undefined, undefined, undefined, undefined],
  );
  const { jobFailed, stuck, durations, regression } = judged;
  assert.deepEqual(
    { jobFailed, stuck, durations, regression },
    { jobFailed: rules.jobFailed, stuck: rules.stuck, durations: rules.durations, regression: rules.regression },
  );
});
