import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { plainWords } from './plain-words.ts';
import { compileRegex } from './regex.ts';

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
