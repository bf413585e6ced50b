import assert from 'node:assert/strict';
import { test } from 'node:test';
import { searchLog } from './search-log.ts';

const log = 'begin\nerror: one\nok\nerror: two\nerror: three\n';

test('the last lines of a log come first, each with its neighbours', () => {
  assert.deepEqual(
    searchLog(log, (line) => line.includes('error'), 2),
    {
      lines: [
        { number: 5, text: 'error: three', before: 'error: two', after: undefined },
        { number: 4, text: 'error: two', before: 'ok', after: 'error: three' },
      ],
      count: 3,
    },
  );
  assert.equal(searchLog(log, (line) => line === 'begin', 9).lines[0]?.before, undefined);
});

test('what is shown of a line is cut and turns nothing around it', () => {
  const [line] = searchLog(`\u202e${'x'.repeat(9_000)}`, () => true, 1).lines;
  assert.deepEqual([line?.text.length, line?.text.startsWith('x')], [500, true]);
});

test('of a line the first 5,000 characters are searched', () => {
  assert.equal(searchLog(`${'x'.repeat(5_000)}needle`, (line) => line.includes('needle'), 1).count, 0);
});
