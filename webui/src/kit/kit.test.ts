import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { hitsOf, lineOfHash, linesOf, longestLine, piecesOf } from './log-view/log-lines.ts';
import { nextSort, sortOf, type Column } from './table/column.ts';
import { longFrom, mostRows, rangeOf } from './table/range.ts';

describe('the rows of a table', () => {
  const sight = { topPx: 0, windowPx: 1_000, rowPx: 44, count: 10_000 };

  test('of a short list are all drawn', () => {
    assert.deepEqual(rangeOf({ ...sight, count: longFrom - 1 }), { first: 0, end: longFrom - 1 });
  });

  test('of a long list are never more than sixty, and always those in sight', () => {
    for (const topPx of [300, 0, -1, -44_000, -439_000, -10_000_000]) {
      for (const windowPx of [400, 1_000, 2_160, 10_000]) {
        const { first, end } = rangeOf({ ...sight, topPx, windowPx });
        assert.ok(end - first <= mostRows && first >= 0 && end <= 10_000, `${topPx} ${windowPx}: ${first} to ${end}`);
        const firstInSight = Math.min(Math.floor(Math.max(0, -topPx) / 44), 9_999);
        if (windowPx < 2_600)
          assert.ok(first <= firstInSight && end > Math.min(9_999, firstInSight), `${topPx}: ${first} to ${end}`);
      }
    }
  });
});

describe('a scroll through a long list', () => {
  const sight = { windowPx: 1_000, rowPx: 44, count: 10_000 };
  const starts = Array.from({ length: 200 }, (_, row) => rangeOf({ ...sight, topPx: -(4_000 + row) * 44 }).first);

  test('changes rows two at a time: a frame in which one comes costs as much', () => {
    const steps = new Set(starts.slice(1).map((first, index) => first - (starts[index] ?? NaN)));
    assert.deepEqual(steps, new Set([0, 2]));
  });

  test('has rows ready on both sides', () => {
    for (const [row, first] of starts.entries()) {
      const { end } = rangeOf({ ...sight, topPx: -(4_000 + row) * 44 });
      const lastInSight = 4_000 + row + Math.ceil(1_000 / 44);
      assert.ok(first <= 4_000 + row - 6 && end - 1 >= lastInSight + 6, `row ${row}: ${first} to ${end}`);
    }
  });
});

describe('a column', () => {
  const column: Column = { id: 'name', title: 'Name', sortKey: 'name' };

  test('rises at the first click, and turns at each other one', () => {
    assert.deepEqual(
      [nextSort(column, 'status'), nextSort(column, 'name'), nextSort(column, '-name')],
      ['name', '-name', 'name'],
    );
  });

  test('may begin with the largest', () => assert.equal(nextSort({ ...column, falls: true }, ''), '-name'));

  test('says how it is sorted', () => {
    assert.deepEqual(
      ['name', '-name', 'x'].map((sort) => sortOf(column, sort)),
      ['ascending', 'descending', 'none'],
    );
    assert.equal(sortOf({ id: 'x', title: 'X' }, 'x'), undefined);
  });
});

describe('a log', () => {
  test('has the lines that were written, and none after the last line feed', () => {
    assert.deepEqual(linesOf('a\r\nb\n'), ['a', 'b']);
    assert.deepEqual(linesOf('a\n\nb'), ['a', '', 'b']);
    assert.deepEqual(linesOf(''), []);
  });

  test('cuts a line that would break the layout, and says how much is left out', () => {
    assert.equal(linesOf('x'.repeat(longestLine + 7))[0], `${'x'.repeat(longestLine)}… (7 more)`);
  });

  test('finds text in upper and lower case alike, and marks each place', () => {
    const lines = ['Killed', 'ok', 'killed and Killed again'];
    assert.deepEqual(hitsOf(lines, 'KILLED'), [0, 2]);
    assert.deepEqual(
      piecesOf(lines[2] ?? '', 'killed')
        .map(({ text, isHit }) => (isHit ? `[${text}]` : text))
        .join(''),
      '[killed] and [Killed] again',
    );
    assert.deepEqual(hitsOf(lines, ''), []);
    assert.deepEqual(piecesOf('ok', 'x'), [{ text: 'ok', isHit: false }]);
  });

  test('marks the right place where folding changes the length of a line', () => {
    const line = 'İİ Killed';
    assert.equal(
      piecesOf(line, 'Killed')
        .map(({ text }) => text)
        .join(''),
      line,
    );
  });

  test('knows the line of an address', () => {
    assert.deepEqual(['L120', 'L0', 'log', 'L1e3', ''].map(lineOfHash), [
      120,
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
  });
});
