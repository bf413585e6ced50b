import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputBroken, outputPassed, outputRunsNeeded, type OutputAssertion, type OutputRun } from './output.ts';

const asserts = (more: Partial<OutputAssertion>): OutputAssertion => ({
  name: 'a',
  fact: 'rows',
  min: undefined,
  max: undefined,
  required: false,
  dropBelow: undefined,
  severity: 'warning',
  ...more,
});
/** Successes a minute apart; `undefined`: a run without the fact. */
const runsOf = (...rows: (number | undefined)[]): OutputRun[] =>
  rows.map((value, index) => ({
    jobName: `run-${index}`,
    endedAt: (index + 1) * 60_000,
    durationMs: 5_000,
    isScheduled: true,
    values: new Map(value === undefined ? [] : [['rows', value]]),
  }));
const judge = (assertion: Partial<OutputAssertion>, runs: readonly OutputRun[], judgesFromAt = 0) =>
  outputBroken({ assertions: [asserts(assertion)] }, { runs, judgesFromAt });
const broken = (assertion: Partial<OutputAssertion>, runs: readonly OutputRun[]) => {
  const verdict = judge(assertion, runs);
  const [first] = verdict.kind === 'holds' ? (verdict.detail['broken'] as { by: string; limit?: number }[]) : [];
  return first && [first.by, first.limit];
};

for (const [says, assertion, rows, found] of [
  ['less than the minimum', { min: 1 }, [0], ['minimum', 1]],
  ['the minimum itself is met', { min: 1 }, [1], undefined],
  ['more than the maximum', { max: 10 }, [11], ['maximum', 10]],
  ['the maximum itself is met', { max: 10 }, [10], undefined],
  ['a run without the fact breaks what is required', { required: true }, [undefined], ['missing', undefined]],
  ['and nothing else', { min: 1 }, [undefined], undefined],
  ['the newest success alone counts', { min: 1 }, [0, 5], undefined],
  ['two values are too few to compare with', { dropBelow: { percent: 50, runs: 3 } }, [100, 100, 1], undefined],
  ['less than half of the median', { dropBelow: { percent: 50, runs: 3 } }, [100, 90, 300, 44], ['drop', 50]],
  ['half of it is enough', { dropBelow: { percent: 50, runs: 3 } }, [100, 90, 300, 50], undefined],
  ['only the last ones are compared with', { dropBelow: { percent: 50, runs: 3 } }, [9, 9, 9, 5, 5, 5, 3], undefined],
] as const) {
  test(`output: ${says}`, () => assert.deepEqual(broken(assertion, runsOf(...rows)), found));
}

test('what fell is no measure for the next one, until as many have fallen in a row as are compared with', () => {
  const rule = { dropBelow: { percent: 50, runs: 4 } };
  const usual = [100, 100, 100, 100];
  for (const fallen of [1, 2, 3, 4])
    assert.deepEqual(broken(rule, runsOf(...usual, ...Array<number>(fallen).fill(1))), ['drop', 50], `${fallen}`);
  assert.equal(broken(rule, runsOf(...usual, 1, 1, 1, 1, 1)), undefined, 'the new usual');
  assert.deepEqual(broken(rule, runsOf(...usual, 1, 1, 100, 1)), ['drop', 50]);
});

test('a run by hand is judged, and no measure for others', () => {
  const byHand = (rows: number) => runsOf(rows).map((run) => ({ ...run, endedAt: 900_000, isScheduled: false }));
  const rule = { dropBelow: { percent: 50, runs: 3 } };
  assert.deepEqual(broken(rule, [...runsOf(100, 100, 100), ...byHand(1)]), ['drop', 50]);
  assert.equal(broken(rule, [...runsOf(100, 100), ...byHand(100), ...runsOf(1)]), undefined);
});

test('a whole row of fallen ones lies within what is asked for', () => {
  const assertion = asserts({ dropBelow: { percent: 50, runs: 14 } });
  assert.equal(outputRunsNeeded({ assertions: [assertion] }), 29);
  const runs = runsOf(...Array<number>(14).fill(100), ...Array<number>(14).fill(1));
  assert.equal(outputBroken({ assertions: [assertion] }, { runs, judgesFromAt: 0 }).kind, 'holds');
});

test('the duration is a fact of every run', () => {
  const verdict = judge({ fact: 'duration_seconds', max: 4 }, runsOf(1));
  assert.deepEqual(verdict.kind === 'holds' && verdict.figures, { measured: 5, limit: 4, unit: 'seconds' });
});

test('one alert tells all that is broken, with the worst severity', () => {
  const assertions = [
    asserts({ name: 'rows', min: 1 }),
    asserts({ name: 'bytes', fact: 'bytes', required: true, severity: 'critical' }),
    asserts({ name: 'most', max: 9 }),
  ];
  const verdict = outputBroken({ assertions }, { runs: runsOf(0), judgesFromAt: 0 });
  assert.equal(verdict.kind, 'holds');
  if (verdict.kind !== 'holds') return;
  assert.deepEqual([verdict.severity, verdict.since, verdict.detail['jobName']], ['critical', 60_000, 'run-0']);
  assert.deepEqual(
    (verdict.detail['broken'] as { name: string }[]).map(({ name }) => name),
    ['rows', 'bytes'],
  );
});

test('what ended before the monitor judged is compared with and opens nothing', () => {
  assert.equal(judge({ min: 1 }, runsOf(0), 60_001).kind, 'quiet');
  const rule = { dropBelow: { percent: 50, runs: 3 } };
  assert.equal(judge(rule, runsOf(100, 100, 100, 1), 200_000).kind, 'holds');
});

test('it holds since the first of the successes in a row that break it', () => {
  const since = (rows: readonly number[], judgesFromAt?: number) => {
    const verdict = judge({ min: 1 }, runsOf(...rows), judgesFromAt);
    return verdict.kind === 'holds' ? [verdict.since, verdict.detail['jobName']] : verdict.reason;
  };
  assert.deepEqual(since([0, 5, 0, 0, 0]), [180_000, 'run-4']);
  assert.deepEqual(since([0, 0, 0]), [60_000, 'run-2']);
  assert.deepEqual(since([0, 0, 0], 120_000), [120_000, 'run-2'], 'the first that the monitor judges');
});

test('without an assertion an open alert ends', () => {
  const verdict = outputBroken({ assertions: [] }, { runs: runsOf(0), judgesFromAt: 0 });
  assert.deepEqual(verdict.kind === 'quiet' && verdict.reason, 'notConfigured');
});

test('what began and ended between two looks is found, from the first broken run to the first that meets all', () => {
  const rule = { assertions: [asserts({ min: 1 })] };
  const passed = outputPassed(rule, { runs: runsOf(5, 0, 0, 5, 0), judgesFromAt: 0 });
  assert.deepEqual(
    passed.map(({ subject, verdict, endedAt, by }) => [subject, verdict.since, endedAt, by?.jobName]),
    [['output', 120_000, 240_000, 'run-3']],
  );
  assert.deepEqual(outputPassed(rule, { runs: runsOf(0, 5), judgesFromAt: 0, isCut: true }), [], 'it began earlier');
});
