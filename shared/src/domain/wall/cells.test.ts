import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellsOf, columnsOf, countStarts, isTexture, type RowFacts, type RunsOfColumn } from './cells.ts';
import { minuteMs } from '../duration.ts';

const stepMs = 30 * minuteMs;
const from = Date.parse('2026-11-21T06:00:00Z');
const span = { from, until: from + 4 * stepMs, stepMs };
const nothing: RowFacts = { runs: [], slots: [], running: [], due: [], risk: undefined };
const likely = { code: 'repeats', level: 'likely', words: 'Failed the last 2 runs' } as const;

type Told = RunsOfColumn & { readonly newest: object };

function runs(column: number, status: Told['status'], more: Partial<Told> = {}): Told {
  const at = from + column * stepMs;
  const newest = { createdAt: at, jobName: `${status}-${column}`, exitCode: undefined, reason: undefined };
  return { at, status, isLate: false, count: 1, newest: { ...newest, durationMs: 25 * minuteMs }, ...more };
}

const cells = (facts: Partial<RowFacts>) => cellsOf(span, { ...nothing, ...facts });

test('a column has a cell only where something is or was due, and cells rise by column', () => {
  assert.deepEqual(cells({}), []);
  const found = cells({ runs: [runs(3, 'success'), runs(1, 'success')] });
  assert.deepEqual(
    found.map(({ c, ok, words, jobName }) => [c, ok, words, jobName]),
    [
      [1, 1, '1 run succeeded', 'success-1'],
      [3, 1, '1 run succeeded', 'success-3'],
    ],
  );
});

test('a cell counts each run once, says what ended the newest failure, and means that run', () => {
  const failed = runs(2, 'failed');
  const reason = { ...failed.newest, reason: 'DeadlineExceeded' };
  const [cell] = cells({
    runs: [
      runs(2, 'success', { count: 3 }),
      runs(2, 'success', { isLate: true, count: 2 }),
      { ...failed, newest: reason },
      { ...failed, isLate: true, newest: { ...failed.newest, createdAt: from, jobName: 'older' } },
    ],
  });
  assert.deepEqual(cell, {
    c: 2,
    ok: 3,
    failed: 2,
    late: 2,
    missed: 0,
    skipped: 0,
    unseen: 0,
    running: 0,
    due: 0,
    risk: null,
    jobName: 'failed-2',
    words: '7 runs, 2 failed: DeadlineExceeded after 25 min; 2 late',
  });
});

test('runs of several CronJobs are told of together: a cell means none of them', () => {
  const [cell] = cells({
    runs: [runs(1, 'success', { count: 3 }), runs(1, 'failed')].map((one) => ({ ...one, newest: undefined })),
    running: [{ at: from + stepMs, jobName: undefined }],
  });
  assert.deepEqual([cell?.jobName, cell?.words], [null, '4 runs, 1 failed; 1 running']);
});

test('a run that succeeded late is one run', () => {
  const late = runs(0, 'success', { isLate: true });
  assert.equal(cells({ runs: [late] })[0]?.words, '1 run succeeded, late');
  assert.equal(cells({ runs: [late, runs(0, 'success', { count: 2 })] })[0]?.words, '3 runs succeeded, 1 late');
});

test('one failed run and all failed runs are told as such', () => {
  const wordsOf = (count: number) => cells({ runs: [runs(0, 'failed', { count })] })[0]?.words;
  assert.equal(wordsOf(1), '1 run failed after 25 min');
  assert.equal(wordsOf(4), '4 runs, all failed after 25 min');
});

test('what came to nothing has its own words, and no Job', () => {
  const slots = (['missed', 'skippedForbid', 'suspended', 'unobserved'] as const).map((outcome, index) => ({
    at: from,
    outcome,
    count: index + 1,
  }));
  const [cell] = cells({ slots });
  assert.deepEqual(
    [cell?.missed, cell?.skipped, cell?.unseen, cell?.jobName, cell?.words],
    [1, 5, 4, null, '1 missed; 2 skipped; 3 suspended; 4 not seen'],
  );
  const [stopped] = cells({ runs: [runs(0, 'replaced'), runs(0, 'unobserved')] });
  assert.deepEqual([stopped?.skipped, stopped?.unseen, stopped?.words], [1, 1, '1 replaced; 1 not seen']);
  assert.equal(stopped?.jobName, 'unobserved-0', 'what is not seen is worse than what was stopped');
});

test('a run under way is meant before one that succeeded, and after one that failed', () => {
  const running = [{ at: from, jobName: 'now' }];
  const jobOf = (status: 'success' | 'failed') => cells({ runs: [runs(0, status)], running })[0]?.jobName;
  assert.equal(jobOf('success'), 'now');
  assert.equal(jobOf('failed'), 'failed-0');
});

test('only what is due has a risk', () => {
  const found = cells({ runs: [runs(0, 'success')], due: [from + stepMs, from + stepMs + 1], risk: likely });
  assert.deepEqual(
    found.map(({ due, risk, words }) => [due, risk, words]),
    [
      [0, null, '1 run succeeded'],
      [2, 'likely', '2 expected: Failed the last 2 runs'],
    ],
  );
});

test('what lies outside the columns is left out', () => {
  const running = [{ at: from - 1, jobName: 'before' }];
  assert.deepEqual(cells({ runs: [runs(4, 'failed'), runs(-1, 'failed')], running, due: [span.until] }), []);
});

test('starts are counted in their columns, once for each CronJob that shares a list', () => {
  const shared = [from, from + stepMs, from + 3 * stepMs + 1, span.until];
  assert.deepEqual(countStarts(span, [shared, shared, [from - 1, from + stepMs - 1]]), [3, 2, 0, 2]);
  assert.equal(columnsOf(span).length, 4);
});

test('what comes more often than each 15 minutes is a texture, and in narrow columns what comes more often than these', () => {
  assert.equal(isTexture(15 * minuteMs, stepMs), false);
  assert.equal(isTexture(10 * minuteMs, stepMs), true);
  assert.equal(isTexture(5 * minuteMs, 2 * minuteMs), false);
  assert.equal(isTexture(minuteMs, 2 * minuteMs), true);
});
