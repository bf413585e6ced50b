import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cutEnd, inBytes, keepEnd, toPlainLine, toPlainText } from './cut.ts';

/** [what, text, what is left] */
const rows: [string, string, string][] = [
  ['ordinary text', 'a\tb\nc', 'a\tb\nc'],
  ['NUL, bell, delete and C1', 'a\0b\u0007c\u007fd\u009be', 'abcde'],
  ['colours', '\u001b[1;31mred\u001b[0m', 'red'],
  ['an override of the direction', 'user\u202egnp.exe', 'usergnp.exe'],
  ['isolates and marks', '\u2066a\u2069\u200eb\u200f\u061cc', 'abc'],
  ['half of a character', 'a\ud800b', 'a\ufffdb'],
  ['line ends of other systems', 'a\r\nb\rc', 'a\nb\nc'],
];

for (const [title, input, text] of rows) {
  test(`plain text: ${title}`, () => assert.equal(toPlainText(input), text));
}

test('a line has no line ends and no runs of blanks', () => {
  assert.equal(toPlainLine(' a\r\n\t b\u2028c  '), 'a b c');
});

test('a text that fits is left alone', () => {
  assert.equal(cutEnd('abc', 3), 'abc');
  assert.equal(keepEnd('abc', 3), 'abc');
});

test('what is cut at its end says so, what is cut at its beginning is an end', () => {
  assert.equal(cutEnd('abcd', 3), 'ab…');
  assert.equal(keepEnd('abcd', 3), 'bcd');
});

test('a character of two units is kept whole or left out', () => {
  assert.equal(cutEnd('a😀😀', 4), 'a😀…');
  assert.equal(cutEnd('a😀😀', 3), 'a…');
  assert.equal(keepEnd('😀😀a', 4), '😀a');
});

test('whatever the text, what is kept fits, is well-formed and gives up no more than it must', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 40 }), fc.integer({ min: 0, max: 60 }), (text, limit) => {
      const end = keepEnd(text, limit, inBytes);
      assert.ok(Buffer.byteLength(end) <= limit && text.endsWith(end) && end.isWellFormed());
      if (end !== text) assert.ok(Buffer.byteLength(end) > limit - 4);
      const begin = cutEnd(text, limit, inBytes);
      assert.ok(Buffer.byteLength(begin) <= limit && begin.isWellFormed());
      assert.equal(begin === text, Buffer.byteLength(text) <= limit);
    }),
  );
});
