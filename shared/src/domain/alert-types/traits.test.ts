import assert from 'node:assert/strict';
import { test } from 'node:test';
import { alertTypes, alertTypeTable } from '../../contract/index.ts';
import { endsWithSuccess, isEdge, isOverWindow, joinsStorms, lacksSuccess } from './traits.ts';

test('failed and missed runs happen, all else is so', () => {
  assert.deepEqual(alertTypes.filter(isEdge), ['jobFailed', 'missedSchedule']);
});

/** Every type with each of its subjects, in the words of the command line: `slaBreached/output`. */
function thoseWith(trait: typeof joinsStorms): string[] {
  return alertTypes.flatMap((type) => {
    const { subjects } = alertTypeTable[type];
    const all = subjects.length === 0 ? [undefined] : subjects;
    return all.flatMap((subject) => (trait({ type, subject }) ? [subject ? `${type}/${subject}` : type] : []));
  });
}

test('a storm is joined by what one outage of the cluster brings about, and by nothing else', () => {
  assert.deepEqual(thoseWith(joinsStorms), [
    'missedSchedule',
    'deadManTriggered',
    'jobStuck/notStarted',
    'absent/neverSucceeded',
  ]);
});

test('a success ends a failure and what waits for a success', () => {
  assert.deepEqual(thoseWith(endsWithSuccess), ['jobFailed', 'deadManTriggered', 'absent/neverSucceeded']);
  assert.deepEqual(thoseWith(lacksSuccess), ['deadManTriggered', 'absent/neverSucceeded']);
});

test('a success rate and a slowdown are computed over a window', () => {
  assert.deepEqual(thoseWith(isOverWindow), ['slaBreached/successRate', 'durationRegression']);
});

test('each type has a rank of its own', () => {
  const ranks = alertTypes.map((type) => alertTypeTable[type].rank);
  assert.equal(new Set(ranks).size, alertTypes.length);
});
