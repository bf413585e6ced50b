import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wholeChannelSpecs, wholeMonitorSpec } from '../../testing/index.ts';
import { findUnknownFields } from './unknown-fields.ts';

test('nothing is unknown in specs that use every field', () => {
  assert.deepEqual(findUnknownFields('CronJobMonitor', wholeMonitorSpec), []);
  for (const spec of Object.values(wholeChannelSpecs)) assert.deepEqual(findUnknownFields('AlertChannel', spec), []);
});

test('a field of another name is found at any depth, with what may stand there', () => {
  const spec = {
    namespaces: ['prod'],
    sla: { windowDay: 7 },
    alerting: { channelRefs: [{ name: 'a' }, { name: 'b', severity: ['critical'] }] },
  };
  const found = findUnknownFields('CronJobMonitor', spec);
  assert.deepEqual(
    found.map(({ path }) => path),
    ['spec.namespaces', 'spec.sla.windowDay', 'spec.alerting.channelRefs[1].severity'],
  );
  assert.deepEqual(found[2]?.allowed, ['name', 'severities', 'after', 'unlessAcknowledged']);
  assert.ok(found[1]?.allowed.includes('windowDays'));
});

test('keys of maps are names that people choose', () => {
  const spec = { selector: { matchLabels: { anything: 'goes' } } };
  assert.deepEqual(findUnknownFields('CronJobMonitor', spec), []);
  assert.deepEqual(findUnknownFields('AlertChannel', { webhook: { headers: { 'X-Team': 'data' } } }), []);
});

test('what is no object has no fields', () => {
  for (const spec of [null, undefined, 7, 'text', [], { sla: 7, maintenanceWindows: 'none' }]) {
    assert.deepEqual(findUnknownFields('CronJobMonitor', spec), []);
  }
});
