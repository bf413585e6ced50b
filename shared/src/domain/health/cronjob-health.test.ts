import assert from 'node:assert/strict';
import test from 'node:test';
import { cronJobStatus } from './cronjob-health.ts';

test('the worst alert decides, then suspension, then whether anything has run', () => {
  const rows: [Parameters<typeof cronJobStatus>[0], string][] = [
    [{ worstSeverity: 'critical', suspended: true, hasRun: true }, 'critical'],
    [{ worstSeverity: 'warning', suspended: false, hasRun: false }, 'warning'],
    [{ worstSeverity: undefined, suspended: true, hasRun: true }, 'suspended'],
    [{ worstSeverity: undefined, suspended: true, hasRun: false }, 'suspended'],
    [{ worstSeverity: undefined, suspended: false, hasRun: true }, 'healthy'],
    [{ worstSeverity: undefined, suspended: false, hasRun: false }, 'unknown'],
  ];
  for (const [facts, expected] of rows) assert.equal(cronJobStatus(facts), expected);
});
