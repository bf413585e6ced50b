import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvHeader, csvRow, valueAt } from './csv.ts';

const row = (value: unknown): string => csvRow({ value }, ['value']).slice(0, -2);

for (const [value, cell] of [
  ['plain', 'plain'],
  [null, ''],
  [undefined, ''],
  [-5, '-5'],
  [0, '0'],
  [false, 'false'],
  ['a,b', '"a,b"'],
  ['say "x"', '"say ""x"""'],
  ['two\nlines', '"two\nlines"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\tx', "'\tx"],
  ['\rx', '"\'\rx"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['a=1', 'a=1'],
  [' =1', ' =1'],
  [['a', 'b'], 'a;b'],
  [['=a', 'b'], "'=a;b"],
  [[], ''],
] as const) {
  test(`${JSON.stringify(value)} becomes ${JSON.stringify(cell)}`, () => {
    assert.equal(row(value), cell);
  });
}

test('rows end with CRLF, the header too', () => {
  assert.equal(csvHeader(['a', 'b.c']), 'a,b.c\r\n');
  assert.equal(csvRow({ a: 1, b: { c: 'x' } }, ['a', 'b.c']), '1,x\r\n');
});

test('beneath null there is nothing', () => {
  assert.equal(valueAt({ a: null }, 'a.b'), undefined);
  assert.equal(csvRow({ a: null }, ['a.b', 'a.c']), ',\r\n');
});
