import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as contract from './index.ts';

/** Every exported list of words. */
const lists = Object.entries(contract).flatMap(([name, words]): (readonly [string, readonly string[]])[] =>
  Array.isArray(words) ? [[name, words as readonly string[]]] : [],
);

test('no list of words has a word twice', () => {
  assert.ok(lists.length > 30, 'the lists are found');
  for (const [name, words] of lists) assert.equal(new Set(words).size, words.length, name);
});

test('each alert type has a metric label of its own', () => {
  const labels = contract.alertTypes.map((type) => contract.alertTypeTable[type].label);
  assert.deepEqual(labels, [
    'JobFailed',
    'MissedSchedule',
    'DeadManSwitch',
    'SLABreached',
    'DurationRegression',
    'JobSuspended',
    'JobStuck',
    'Absent',
  ]);
});

test('the absence of success and of a CronJob is critical unless a monitor says otherwise', () => {
  const critical = contract.alertTypes.filter((type) => contract.alertTypeTable[type].severity === 'critical');
  assert.deepEqual(critical, ['deadManTriggered', 'absent']);
});

test('open and closed states make up all alert states', () => {
  assert.deepEqual([...contract.openAlertStates, ...contract.closedAlertStates], [...contract.alertStates]);
});

test('every error code has a status that means refusal or failure', () => {
  for (const [code, status] of Object.entries(contract.errorStatuses)) {
    assert.ok(status >= 400 && status <= 503, code);
    assert.match(code, /^[A-Z]+(_[A-Z]+)*$/);
  }
});

test('a hold has one of the four words, or is of a message that is on its way', () => {
  const without = contract.toldReasons.filter((reason) => contract.wordOfReason[reason] === undefined);
  assert.deepEqual(
    [...contract.suppressions, ...contract.holds].filter((hold) => without.includes(hold)),
    ['monitorGone', 'startupGrace', 'backoff', 'circuit', 'parked', 'invalid', 'order', 'after'],
  );
  assert.deepEqual(
    [...new Set(Object.values(contract.wordOfReason))].toSorted(),
    Object.keys(contract.toldWords).toSorted(),
  );
});

test('reasons why an alert was not told take in every hold and suppression', () => {
  const reasons: readonly string[] = contract.toldReasons;
  for (const reason of [...contract.holds, ...contract.suppressions]) assert.ok(reasons.includes(reason), reason);
});
