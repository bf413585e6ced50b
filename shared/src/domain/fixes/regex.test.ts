import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compileRegex, findRegexProblem, RegexError } from './regex.ts';

test('finds a match anywhere in the text', () => {
  const regex = compileRegex('exit (code|status) [0-9]+');
  assert.equal(regex.finds('the run ended with exit code 137.'), true);
  assert.equal(regex.finds('the run ended well'), false);
});

test('replaces every match by a text that is taken as it is', () => {
  assert.equal(compileRegex('key-([a-z]+)').replaceAll('key-a, key-b', '[$1]'), '[$1], [$1]');
});

test('says what is wrong with an expression of another syntax', () => {
  for (const expression of ['(a', 'a**', '(?=a)', '(a)\\1', '[z-a]', '\\p{Nothing}']) {
    assert.equal(typeof findRegexProblem(expression), 'string', expression);
    assert.throws(() => compileRegex(expression), RegexError, expression);
  }
  assert.equal(findRegexProblem('(?i)out of memory|\\bOOM\\b'), undefined);
});

test('refuses an expression longer than 1 KiB of UTF-8', () => {
  assert.equal(findRegexProblem('é'.repeat(512)), undefined);
  assert.equal(findRegexProblem(`${'é'.repeat(512)}a`), 'longer than 1 KiB');
});

test('takes linear time where a backtracking engine would not end', () => {
  const regex = compileRegex('^(a+)+$');
  const before = process.cpuUsage();
  assert.equal(regex.finds(`${'a'.repeat(20_000)}!`), false);
  assert.ok(process.cpuUsage(before).user < 2_000_000, 'two seconds of processor time');
});
