import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quietVerdictsNeeded } from './resolve-hold.ts';

test('figures over a window need two quiet verdicts, all else one', () => {
  assert.deepEqual(
    [
      quietVerdictsNeeded('slaBreached', 'successRate'),
      quietVerdictsNeeded('durationRegression', undefined),
      quietVerdictsNeeded('slaBreached', 'maxDuration'),
      quietVerdictsNeeded('jobFailed', undefined),
    ],
    [2, 2, 1, 1],
  );
});
