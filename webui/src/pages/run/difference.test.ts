import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogPiece } from '@cronjob-monitor/shared/contract';
import { comparedTitle, rowTitle } from '../../format/comparison.ts';
import { decisiveText } from '../../format/runs.ts';
import { differenceRows, sideRows, type DifferenceRow } from './difference.ts';

const lines = (count: number, of = 'line'): string[] => Array.from({ length: count }, (_, at) => `${of} ${at}`);
const pieces: readonly LogPiece[] = [
  { kind: 'same', from: 1, lines: ['begin'] },
  { kind: 'here', from: 2, lines: ['new'] },
  { kind: 'there', from: 2, lines: ['old', 'older'] },
  { kind: 'same', from: 3, lines: lines(100) },
  { kind: 'here', from: 103, lines: ['Killed'] },
];

/** `here there sign text`, or how many lines are folded. */
const told = (rows: readonly DifferenceRow[]): string[] =>
  rows.map((row) =>
    row.kind === 'fold' ? `${row.lines} folded` : `${row.here ?? ''} ${row.there ?? ''} ${row.sign} ${row.text}`,
  );

describe('the difference of two logs', () => {
  test('has the numbers of both, and folds what is common but for two lines around what differs', () => {
    assert.deepEqual(told(differenceRows(pieces, new Set())), [
      '1 1  begin',
      '2  + new',
      ' 2 - old',
      ' 3 - older',
      '3 4  line 0',
      '4 5  line 1',
      '96 folded',
      '101 102  line 98',
      '102 103  line 99',
      '103  + Killed',
    ]);
  });

  test('draws what was opened whole, and of a log that is all new the beginning and the end', () => {
    assert.equal(differenceRows(pieces, new Set([3])).length, 105);
    const rows = differenceRows([{ kind: 'here', from: 11, lines: lines(4_000) }], new Set());
    assert.deepEqual(
      [rows.length, told(rows)[0], told(rows)[150], told(rows).at(-1)],
      [301, '11  + line 0', '3700 folded', '4010  + line 3999'],
    );
  });

  test('has keys of its own for each row', () => {
    const keys = differenceRows(pieces, new Set([3])).map(({ key }) => key);
    assert.equal(new Set(keys).size, keys.length);
  });

  test('stands side by side with what is new beside what it stands in place of', () => {
    const rows = sideRows(differenceRows(pieces, new Set()));
    const pairs = rows.slice(1, 3).map((row) => (row.kind === 'pair' ? [row.here?.text, row.there?.text] : []));
    assert.deepEqual(pairs, [
      ['new', 'old'],
      [undefined, 'older'],
    ]);
    assert.equal(rows.filter(({ kind }) => kind === 'fold').length, 1);
  });
});

test('a decisive line is told by the failures that had it: a success may say the same, and its log be equal', () => {
  const at = '2026-11-20T02:00:00.000Z';
  const line = { by: 'lastLine', firstSeenAt: at } as const;
  assert.equal(decisiveText(line, { completionTime: at }, 'UTC'), 'Last line of the log, first failure with this line');
  assert.equal(decisiveText(line, { completionTime: null }, 'UTC'), 'Last line of the log, seen first on 20 Nov');
});

describe('a comparison', () => {
  test('names its rows and what it is compared with', () => {
    assert.equal(rowTitle({ key: 'env', name: 'main: MODE' }), 'Env main: MODE');
    assert.equal(rowTitle({ key: 'env', name: null }), 'Env names');
    assert.equal(rowTitle({ key: 'resources', name: 'main: memory limit' }), 'main: memory limit');
    assert.equal(comparedTitle({ words: 'Image differs' }, true, 'x'), 'Image differs from the last success');
    assert.equal(
      comparedTitle({ words: 'Nothing that is known differs but the outcome' }, false, '2026-11-21 02:00'),
      'Nothing that is known differs but the outcome, beside the run of 2026-11-21 02:00',
    );
  });
});
