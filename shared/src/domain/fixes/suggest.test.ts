import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FixPattern } from './pattern.ts';
import { bestSuggestion, createFixMatcher, withoutSearches, type FixQuestion } from './suggest.ts';

function question(patterns: FixPattern[], facts: Partial<FixQuestion['facts']> = {}, key = 'm/1'): FixQuestion {
  return {
    key,
    patterns,
    facts: { exitCode: 1, reasons: ['Error'], log: undefined, events: [], ...facts },
    values: { 'CronJob.Name': 'nightly', ExitCode: '1' },
  };
}

const custom = (name: string, match: FixPattern['match'], priority = 101): FixPattern => ({
  name,
  match,
  priority,
  suggestion: `${name} of {{ .CronJob.Name }}`,
});

test('a suggestion of a monitor goes before the built-in ones, and is filled in', () => {
  const suggest = createFixMatcher();
  assert.deepEqual(suggest(question([custom('db', { logPattern: 'deadlock' })], { log: 'a deadlock' })), {
    name: 'db',
    priority: 101,
    isCustom: true,
    text: 'db of nightly',
    logAt: 2,
  });
  assert.equal(suggest(question([custom('db', { logPattern: 'deadlock' })], { log: 'fine' }))?.name, 'exit-1');
});

test('says where in the whole log its pattern was found, though only the end is searched', () => {
  const suggest = createFixMatcher();
  const log = `${'x'.repeat(200 * 1024)}\na deadlock`;
  const patterns = [custom('db', { logPattern: 'dead+lock', exitCode: 1 })];
  assert.equal(suggest(question(patterns, { log }))?.logAt, log.indexOf('deadlock'));
  assert.equal(suggest(question([custom('code', { exitCode: 1 })], { log }, 'm/2'))?.logAt, undefined);
});

test('a pattern that cannot be compiled is left out, and the others work', () => {
  const suggest = createFixMatcher();
  const patterns = [custom('bad', { logPattern: '(' }, 900), custom('good', { exitCode: 1 })];
  assert.equal(suggest(question(patterns))?.name, 'good');
});

test('patterns belong to a generation: those of another are not asked', () => {
  const suggest = createFixMatcher();
  assert.equal(suggest(question([custom('first', { exitCode: 1 })], {}, 'm/1'))?.name, 'first');
  assert.equal(suggest(question([custom('second', { exitCode: 1 })], {}, 'm/2'))?.name, 'second');
  for (let monitor = 0; monitor < 300; monitor++) suggest(question([], {}, `other/${monitor}`));
  assert.equal(suggest(question([custom('first', { exitCode: 1 })], {}, 'm/1'))?.name, 'first');
});

test('says what it looks at, in the order of trial', () => {
  const tried: string[] = [];
  createFixMatcher()(question([custom('mine', { exitCode: 9 })], { exitCode: 137 }), (name) => void tried.push(name));
  assert.deepEqual([...tried.slice(0, 3), tried.at(-1)], ['mine', 'mine', 'oom-killed', 'sigkill']);
});

test('without searches only codes and reasons decide', () => {
  const patterns = [
    custom('log', { logPattern: 'x' }, 500),
    custom('event', { eventPattern: 'x' }, 400),
    custom('reason', { reason: 'error' }),
  ];
  const asked = withoutSearches(question(patterns, { log: 'x', events: ['x'] }));
  assert.equal(createFixMatcher()(asked)?.name, 'reason');
});

test('of what several monitors suggest the higher priority wins, then the custom one, then the first', () => {
  const fix = (name: string, priority: number, isCustom = false) => ({
    name,
    priority,
    isCustom,
    text: '',
    logAt: undefined,
  });
  assert.equal(bestSuggestion([undefined, fix('a', 5), fix('b', 9)])?.name, 'b');
  assert.equal(bestSuggestion([fix('a', 9), fix('b', 9, true)])?.name, 'b');
  assert.equal(bestSuggestion([fix('a', 9, true), fix('b', 9, true)])?.name, 'a');
  assert.equal(bestSuggestion([undefined]), undefined);
});
