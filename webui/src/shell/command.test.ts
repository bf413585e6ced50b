import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCommand, sayCommand } from './command.ts';

const read = (typed: string): readonly (string | undefined)[] => {
  const { verb, list, object } = readCommand(typed);
  return [verb ?? list?.word, object];
};

test('a verb and a name are a command, and the verb may be cut short or be said otherwise', () => {
  assert.deepEqual(read('trigger night'), ['trigger', 'night']);
  assert.deepEqual(read('  Suspend   prod/etl '), ['suspend', 'prod/etl']);
  assert.deepEqual(read('tri night'), ['trigger', 'night']);
  assert.deepEqual(read('ack'), ['acknowledge', '']);
  assert.deepEqual(read('who hears backup'), ['who hears', 'backup']);
  assert.deepEqual(read('who'), ['who hears', '']);
  assert.deepEqual(read('mute etl'), ['silence', 'etl']);
});

test('a name alone is a name, also where it begins as a verb does', () => {
  assert.deepEqual(read('nightly backup'), [undefined, 'nightly backup']);
  assert.deepEqual(read('log-rotate'), [undefined, 'log-rotate']);
  assert.deepEqual(read('sus'), [undefined, 'sus']);
});

test('a word of what is wrong lists CronJobs by what the service says of them', () => {
  assert.deepEqual(read('oom'), ['oom', '']);
  assert.deepEqual(read('at risk'), ['at risk', '']);
  const verdict = { kind: 'lastRunFailed', cause: 'Killed at 512 Mi', holds: [] };
  const cronJob = { verdict, lastExecution: { reason: 'OOMKilled' }, sla: { verdict: 'met' } } as never;
  const listed = ['failed', 'oom', 'stuck', 'late', 'silenced', 'at risk'].filter((word) =>
    readCommand(word).list?.holds(cronJob),
  );
  assert.deepEqual(listed, ['failed', 'oom']);
});

test('a line says what it does', () => {
  assert.equal(sayCommand('trigger', 'prod/etl'), 'Trigger prod/etl');
  assert.equal(sayCommand('who hears', 'prod/etl'), 'Who hears of prod/etl');
});
