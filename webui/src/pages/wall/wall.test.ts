import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Wall, WallCell, WallRow } from '@cronjob-monitor/shared/contract';
import { cellText, columnText, wallTitle } from '../../format/wall.ts';
import { laneMarks } from './lane-marks.ts';
import { cellsIn, foldWord, heldAt, heldIn, linesOf } from './lines.ts';
import { moveIn } from './moves.ts';
import { withWallRow } from './state.svelte.ts';
import { coveredBy, zoomInto } from './zoom.ts';

const size = { pitchPx: 14, heightPx: 16 };
const none = { c: 0, ok: 0, failed: 0, late: 0, missed: 0, skipped: 0, unseen: 0, running: 0, due: 0 };
const cell = (changes: Partial<WallCell>): WallCell => ({ ...none, risk: null, jobName: null, words: '', ...changes });
const looks = (changes: Partial<WallCell>, isTexture = false): string[] =>
  Object.keys(laneMarks([cell(changes)], isTexture, size)).sort();

describe('a cell of the wall', () => {
  test('has a form for each thing that became of its runs', () => {
    assert.deepEqual(looks({ ok: 2 }), ['ok']);
    assert.deepEqual(looks({ ok: 1, failed: 1 }), ['failed', 'ok']);
    assert.deepEqual(looks({ failed: 2 }), ['cross', 'failed']);
    assert.deepEqual(looks({ late: 1 }), ['hole', 'late', 'ok']);
    assert.deepEqual(looks({ missed: 1 }), ['missed']);
    assert.deepEqual(looks({ skipped: 1 }), ['skipped']);
    assert.deepEqual(looks({ unseen: 1 }), ['unseen']);
    assert.deepEqual(looks({ running: 1 }), ['running']);
    assert.deepEqual(looks({}), []);
  });

  test('is an outline while it is expected, with a dot where it is at risk', () => {
    assert.deepEqual(looks({ due: 1 }), ['due']);
    assert.deepEqual(looks({ due: 1, risk: 'possible' }), ['dot', 'risk']);
    assert.deepEqual(looks({ ok: 1, due: 1, risk: 'likely' }), ['ok'], 'what was hides what comes in the same column');
  });

  test('has at least four pixels of its height for the share that failed, and a gap above them', () => {
    const { ok, failed } = laneMarks([cell({ ok: 99, failed: 1 })], false, size);
    assert.equal(ok, 'M1 2.5h12v6h-12z');
    assert.equal(failed, 'M1 9.5h12v4h-12z');
  });

  test('is a piece of a band where runs come too often to be told apart', () => {
    assert.equal(
      laneMarks([cell({ ok: 5 }), cell({ c: 1, ok: 5 })], true, size).ok,
      'M0 4.5h14v7h-14zM14 4.5h14v7h-14z',
    );
    assert.deepEqual(looks({ ok: 4, failed: 1 }, true), ['failed', 'ok']);
    assert.deepEqual(looks({ due: 5 }, true), ['dueBand']);
    assert.deepEqual(looks({ due: 5, risk: 'likely' }, true), ['riskBand']);
  });
});

const row = (name: string, group: string | null, cells: readonly WallCell[] = []) =>
  ({ cronjob: { namespace: 'prod', name }, group, cells }) as unknown as WallRow; // nothing else of it is read

describe('the lines of the wall', () => {
  const rows = [
    row('a', 'data', [cell({ c: 1, ok: 1 })]),
    row('b', null),
    row('c', 'data', [cell({ c: 1, failed: 2, jobName: 'c-1' })]),
  ];

  test('stand under the heads of their groups, in the order of the first rows', () => {
    assert.deepEqual(
      linesOf({ rows }, []).map((line) => (line.kind === 'row' ? line.row.cronjob.name : `[${line.group}]`)),
      ['[data]', 'a', 'c', '[without an owner]', 'b'],
    );
  });

  test('are one line while a group is folded, whose cells add up what the rows have', () => {
    const [head, next] = linesOf({ rows }, ['data']);
    assert.ok(head?.kind === 'group' && next?.kind === 'group');
    assert.equal(foldWord(head), 'Unfold data, 2 CronJobs');
    assert.deepEqual(
      cellsIn(head).map(({ c, ok, failed, jobName, words }) => [c, ok, failed, jobName, words]),
      [[1, 1, 2, null, '2 failed, 1 succeeded']],
    );
    assert.deepEqual(cellsIn(next), [], 'what is unfolded shows its rows instead');
  });
});

test('what holds messages back is told of each column that it touches, and of a folded group where all its rows share it', () => {
  const span = (from: string, until: string) => ({
    from: `2026-11-21T${from}:00Z`,
    until: `2026-11-21T${until}:00Z`,
    words: from,
  });
  const [night, own] = [span('01:00', '03:00'), span('02:10', '02:40')];
  const rows = [
    { ...row('a', 'data'), held: [night, own] },
    { ...row('b', 'data'), held: [{ ...night }] },
  ];
  const [folded] = linesOf({ rows }, ['data']);
  const [head, first] = linesOf({ rows }, []);
  assert.ok(folded && head && first);
  assert.deepEqual([heldIn(folded), heldIn(head), heldIn(first)], [[night], [], [night, own]]);
  const heldFrom = (text: string) => heldAt(first, Date.parse(`2026-11-21T${text}:00Z`), 1_800)?.words;
  assert.deepEqual(['00:30', '01:00', '02:30', '03:00'].map(heldFrom), [undefined, '01:00', '01:00', undefined]);
});

test('keys move through lines and columns, and stay within the wall', () => {
  const bounds = { lines: 3, columns: 5 };
  const keys = (...pressed: string[]) =>
    pressed.reduce<ReturnType<typeof moveIn>>((at, key) => moveIn(key, at, bounds) ?? at, undefined);
  assert.deepEqual(keys('ArrowRight'), { line: 0, column: 0 });
  assert.deepEqual(keys('ArrowDown', 'j', 'j', 'End', 'ArrowRight'), { line: 2, column: 4 });
  assert.deepEqual(keys('PageDown', 'k', 'ArrowRight', 'Home', 'ArrowLeft'), { line: 1, column: -1 });
  assert.equal(moveIn('x', undefined, bounds), undefined);
  assert.equal(moveIn('End', undefined, { lines: 0, columns: 5 }), undefined);
});

describe('the words of the wall', () => {
  const viewer = { nowMs: Date.parse('2026-11-21T06:52:00Z'), timeZone: 'UTC' };
  const columns = ['2026-11-21T06:00:00.000Z', '2026-11-21T06:30:00.000Z'];
  const wall = { columns, starts: [3, 13], stepSeconds: 1_800, pagination: { total: 40 } } as unknown as Wall; // nothing else of it is read

  test('name the busiest column in the title', () => {
    assert.equal(wallTitle(wall, viewer), '40 CronJobs. Sat 06:30 is the busiest half hour: 13 starts');
    assert.equal(wallTitle({ ...wall, starts: [0, 0] }, viewer), '40 CronJobs. No single start in this time');
  });

  test('name the last of several, which may be to come', () => {
    assert.equal(
      wallTitle({ ...wall, starts: [2, 2] }, viewer),
      '40 CronJobs. Sat 06:30 is the busiest half hour: 2 starts',
    );
  });

  const recorded = { isRecorded: true, held: undefined };

  test('say of a place what the service says, and tell no run from nothing that is recorded', () => {
    assert.equal(columnText(wall, 1, viewer), '2026-11-21 06:30, 30 min');
    assert.equal(cellText(cell({ words: '2 runs, 1 failed' }), recorded, viewer), '2 runs, 1 failed');
    assert.equal(cellText(undefined, recorded, viewer), 'no run');
    assert.equal(cellText(undefined, { ...recorded, isRecorded: false }, viewer), 'not recorded');
    const held = 'Maintenance until {at:2026-11-21T09:00:00.000Z}';
    assert.equal(cellText(undefined, { ...recorded, held }, viewer), 'no run. Maintenance until 09:00');
  });
});

describe('what is drawn out of the wall', () => {
  const rows = [row('a', 'data'), row('b', 'data'), row('c', 'shop')];
  const wall = { from: '2026-11-21T00:00:00.000Z', stepSeconds: 1_800, rows };
  const lines = linesOf(wall, ['shop']);
  const covered = { top: 1, bottom: 1, first: 4, last: 7 };

  test('is more than one cell, whichever end was first, and no name', () => {
    assert.deepEqual(coveredBy({ anchor: { line: 3, column: 7 }, end: { line: 1, column: 4 } }), {
      ...covered,
      bottom: 3,
    });
    assert.equal(coveredBy({ anchor: { line: 1, column: 4 }, end: { line: 1, column: 4 } }), undefined);
    assert.equal(coveredBy({ anchor: { line: 1, column: -1 }, end: { line: 1, column: 4 } }), undefined);
  });

  test('is its time in the finest steps that fit, of all rows where it lies in one line', () => {
    assert.deepEqual(zoomInto(wall, lines, covered), {
      from: '2026-11-21T02:00:00.000Z',
      until: '2026-11-21T04:00:00.000Z',
      step: '2m',
      rows: [],
    });
    assert.equal(zoomInto(wall, lines, { ...covered, last: 47 }).step, '30m');
    assert.equal(zoomInto({ ...wall, stepSeconds: 86_400 }, lines, { ...covered, last: 90 }).step, '24h');
  });

  test('is the rows of several lines, of a folded group all that are in it', () => {
    const rowsOf = (top: number, bottom: number) => zoomInto(wall, lines, { ...covered, top, bottom }).rows;
    assert.deepEqual(rowsOf(0, 1), ['prod/a']);
    assert.deepEqual(rowsOf(2, 3), ['prod/b', 'prod/c']);
    assert.deepEqual(rowsOf(0, 3), [], 'all of them');
  });
});

describe('a row that the stream carries', () => {
  const [from, until] = ['2026-11-20T14:00:00.000Z', '2026-11-22T02:00:00.000Z'];
  const of = (name: string, revision: string, failed = 0) =>
    ({ ...row(name, 'team', [cell({ failed })]), verdict: { revision } }) as unknown as WallRow; // as above
  const wall = { from, until, now: '2026-11-21T14:03:00.000Z', rows: [of('a', '5'), of('b', '5')] } as unknown as Wall;
  const told = (one: WallRow, ends = { from, until }) =>
    withWallRow(wall, {
      kind: 'wall',
      data: { revision: '9', ...ends, now: '2026-11-21T14:04:00.000Z', row: { ...one, group: 'prod' } },
    });

  test('stands in its place, in the group that the wall is drawn by', () => {
    const shown = told(of('b', '6', 1));
    assert.deepEqual(
      shown?.rows.map(({ cronjob, group, cells }) => [cronjob.name, group, cells[0]?.failed]),
      [
        ['a', 'team', 0],
        ['b', 'team', 1],
      ],
    );
    assert.equal(shown?.now, '2026-11-21T14:04:00.000Z');
    assert.equal(told(of('b', '4', 1)), wall, 'what is older changes nothing');
  });

  test('is asked for where the wall has moved on by a column, or has no such row', () => {
    assert.equal(told(of('b', '6'), { from: '2026-11-20T14:30:00.000Z', until }), undefined);
    assert.equal(told(of('c', '6')), undefined);
  });
});
