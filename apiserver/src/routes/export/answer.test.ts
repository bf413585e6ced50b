import assert from 'node:assert/strict';
import { test } from 'node:test';
import { csvHeader, csvRow, valueAt } from './answer.ts';

const row = (value: unknown): string => csvRow({ value }, ['value'], 0).slice(0, -2);

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
  assert.equal(csvRow({ a: 1, b: { c: 'x' } }, ['a', 'b.c'], 0), '1,x\r\n');
});

test('a sentence has its instants as text with their date, and other text stays as it is', () => {
  const words =
    'Run of {at:2026-11-20T05:30:00.000Z} failed {ago:2026-11-20T05:31:00.000Z}, for {age:2026-11-20T06:00:00.000Z}';
  const item = { verdict: { words, cause: null }, message: words };
  const columns = ['verdict.words', 'verdict.cause', 'message'];
  assert.equal(
    csvRow(item, columns, Date.parse('2026-11-21T07:00:00Z')),
    `"Run of 2026-11-20 05:30 UTC failed at 2026-11-20 05:31 UTC, for 25 h",,"${words}"\r\n`,
  );
});

test('beneath null there is nothing', () => {
  assert.equal(valueAt({ a: null }, 'a.b'), undefined);
  assert.equal(csvRow({ a: null }, ['a.b', 'a.c'], 0), ',\r\n');
});
