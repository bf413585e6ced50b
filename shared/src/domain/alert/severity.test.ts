import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertSeverity, isRise } from './severity.ts';

test('the severity of a type is what the monitor says, else its default', () => {
  assert.deepEqual(alertSeverity('deadManTriggered', undefined), { severity: 'critical', source: 'default' });
  assert.deepEqual(alertSeverity('jobFailed', { jobFailed: 'critical' }), { severity: 'critical', source: 'override' });
  assert.deepEqual(alertSeverity('jobFailed', { jobStuck: 'critical' }), { severity: 'warning', source: 'default' });
});

test('only from warning to critical is a rise', () => {
  assert.deepEqual(
    [isRise('warning', 'critical'), isRise('critical', 'warning'), isRise('critical', 'critical')],
    [true, false, false],
  );
});
