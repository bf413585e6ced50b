import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { compileRegex, findRegexProblem, RegexError, plainWords } from './regex.ts';

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

test('words are recognised, and what is more than words is not', () => {
  assert.deepEqual(plainWords('(?i)No such host|ENOTFOUND'), {
    words: ['no such host', 'enotfound'],
    ignoresCase: true,
  });
  assert.deepEqual(plainWords('x509:'), { words: ['x509:'], ignoresCase: false });
  for (const more of ['a.b', 'a(b)', 'a|', '', '^a', 'a$', 'a+', '[ab]', 'a\\b', '(?i)', '(?s)a', 'a{2}', 'ä'])
    assert.equal(plainWords(more), undefined, more);
});

test('an expression of words finds what it found without that knowledge', () => {
  const letter = fc.constantFrom('a', 'A', 'b', 'k', 'K', 's', ' ', ':', '\n', '\u212a', '\u017f', 'ä', '\u{1f600}');
  const text = fc.array(letter, { maxLength: 12 }).map((letters) => letters.join(''));
  const word = fc.array(fc.constantFrom('a', 'A', 'b', 'k', 's', ' ', ':'), { minLength: 1, maxLength: 3 });
  const expression = fc
    .tuple(fc.boolean(), fc.array(word, { minLength: 1, maxLength: 3 }))
    .map(([ignoresCase, words]) => `${ignoresCase ? '(?i)' : ''}${words.map((one) => one.join('')).join('|')}`);
  fc.assert(
    fc.property(expression, text, (written, searched) => {
      assert.equal(compileRegex(written).finds(searched), RE2JS.compile(written).matcher(searched).find());
    }),
    { numRuns: 2_000 },
  );
});
