import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertTypes } from '../../contract/index.ts';
import { isEdge } from './edge.ts';

test('failed and missed runs happen, all else is so', () => {
  assert.deepEqual(alertTypes.filter(isEdge), ['jobFailed', 'missedSchedule']);
});
