import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { cleanText, keepEnd, toSafeLog, toText } from './redact.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))));
const asIs = (text: string): string => text;

/** [what, bytes, text] */
const rows: [string, Uint8Array, string][] = [
  ['ordinary text', bytes('a\tb\nc'), 'a\tb\nc'],
  ['NUL', bytes('a\0b'), 'ab'],
  ['broken UTF-8', bytes('a', [0xff, 0xc3], 'b'), 'a\ufffd\ufffdb'],
  ['a character cut at the end', bytes('a', [0xe2, 0x82]), 'a\ufffd'],
  ['an encoded half of a character', bytes('a', [0xed, 0xa0, 0x80], 'b'), 'a\ufffd\ufffd\ufffdb'],
  ['line ends of other systems', bytes('a\r\nb\rc'), 'a\nb\nc'],
  ['bell, backspace, delete and C1', bytes('a\u0007\b\u007f\u009bb'), 'ab'],
  ['colours', bytes('\u001b[1;31mred\u001b[0m'), 'red'],
  ['cursor moves', bytes('a\u001b[2J\u001b[H\u001b[?25lb'), 'ab'],
  ['a window title', bytes('a\u001b]0;title\u0007b\u001b]8;;http://x\u001b\\c'), 'abc'],
  ['a title without an end goes to the end of its line', bytes('a\u001b]0;title\nb'), 'a\nb'],
  ['short sequences', bytes('a\u001b(Bb\u001b=c\u001bMd'), 'abcd'],
  ['an escape at the very end', bytes('a\u001b'), 'a'],
  ['a cut sequence', bytes('a\u001b[31'), 'a'],
  ['bidirectional marks stay: the reader shows them', bytes('a\u202eb'), 'a\u202eb'],
  ['characters beyond the first plane', bytes('😀'), '😀'],
];

for (const [title, input, text] of rows) {
  test(`text of a log: ${title}`, () => {
    assert.equal(toText(input), text);
  });
}

test('a text with half a character is repaired', () => {
  assert.equal(cleanText('a\ud800b'), 'a\ufffdb');
});

test('whatever the bytes, the text is well-formed and has no control characters', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (input) => {
      const text = toText(input);
      assert.ok(text.isWellFormed());
      assert.doesNotMatch(text, /[^\P{Cc}\n\t]/u);
    }),
  );
});

test('the end that is kept fits, and is an end', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.integer({ min: 0, max: 80 }), (text, maxBytes) => {
      const kept = keepEnd(text, maxBytes);
      assert.ok(Buffer.byteLength(kept.text) <= maxBytes);
      assert.ok(text.endsWith(kept.text));
      assert.equal(kept.truncated, Buffer.byteLength(text) > maxBytes);
      if (kept.truncated)
        assert.ok(Buffer.byteLength(kept.text) > maxBytes - 4, 'no more than one character is given up');
    }),
  );
});

test('a log of five megabytes is cut to its end', () => {
  const line = 'x'.repeat(99);
  const log = toSafeLog(bytes(`${line}\n`.repeat(52_000), 'the end\n'), { maxBytes: 1000, cut: false, redact: asIs });
  assert.equal(Buffer.byteLength(log.text), 1000);
  assert.ok(log.text.endsWith('the end\n'));
  assert.equal(log.truncated, true);
});

test('secrets are blotted out before the cut, so that no half of one is left', () => {
  const redact = (text: string): string => text.replaceAll('password=hunter2', 'password=***');
  const log = toSafeLog(bytes('password=hunter2'), { maxBytes: 5, cut: false, redact });
  assert.equal(log.text, 'd=***');
});

test('the part of a line with which a cut log begins is left out', () => {
  const options = { maxBytes: 100, redact: asIs };
  assert.equal(toSafeLog(bytes('unter2\nb\nc'), { ...options, cut: true }).text, 'b\nc');
  assert.equal(toSafeLog(bytes('a\nb\nc'), { ...options, cut: false }).text, 'a\nb\nc');
  assert.equal(toSafeLog(bytes('one line only'), { ...options, cut: true }).text, 'one line only');
  assert.equal(toSafeLog(bytes('one line only\n'), { ...options, cut: true }).text, 'one line only\n');
});
