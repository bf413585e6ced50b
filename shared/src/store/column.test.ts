import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { cleanText, fromJson, optionalCleanText, optionalNumber, optionalText, toJson } from './column.ts';

test('text loses NUL, gets its broken halves replaced and is cut between code points', () => {
  const rows: [string, number, string][] = [
    ['plain', 10, 'plain'],
    ['a\0b\0', 10, 'ab'],
    ['\ud83e lone \udd8a', 20, '\ufffd lone \ufffd'],
    ['🦊🦊🦊', 2, '🦊🦊'],
    ['🦊🦊🦊', 3, '🦊🦊🦊'],
    ['🦊ab', 2, '🦊a'],
    ['abc', 0, ''],
  ];
  for (const [text, most, expected] of rows) assert.equal(cleanText(text, most), expected);
  assert.equal(optionalCleanText(undefined, 5), null);
});

test('whatever comes in, what goes to a database is well formed and short enough', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.nat(40), (text, most) => {
      const clean = cleanText(text, most);
      assert.ok(clean.isWellFormed());
      assert.ok(!clean.includes('\0'));
      assert.ok(Array.from(clean).length <= most);
    }),
  );
});

test('JSON survives NUL, broken halves and backslashes', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = toJson(value);
      assert.ok(!text.includes('\0') && text.isWellFormed());
      assert.deepEqual(fromJson(text), JSON.parse(JSON.stringify(value)));
    }),
  );
  assert.equal(fromJson(toJson('\\u0000 \0')), '\\u0000 \0');
  assert.equal(fromJson(null), undefined);
});

test('null of a column is absence', () => {
  assert.equal(optionalNumber(null), undefined);
  assert.equal(optionalNumber(0), 0);
  assert.equal(optionalText(null), undefined);
  assert.equal(optionalText(''), '');
});
