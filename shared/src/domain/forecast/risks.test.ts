import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { heardWords, risksOf, type FailuresInRow, type ForecastFacts } from './risks.ts';
import { minuteMs, hourMs } from '../duration.ts';

const nine = Date.parse('2026-11-24T21:00:00Z');
/** Runs at each hour from 21:00 on. */
const hourly = (count: number): number[] => Array.from({ length: count }, (_, index) => nine + index * hourMs);

/** Nothing is amiss: eight runs of one minute, one an hour. */
const calm: ForecastFacts = {
  slots: hourly(8),
  afterAt: nine + 8 * hourMs,
  suspended: false,
  problem: undefined,
  failures: undefined,
  waitsFor: undefined,
  isReplaced: false,
  rate: { failed: 0, runs: 100 },
  durations: { p50Ms: minuteMs, p95Ms: 2 * minuteMs },
  maxDurationMs: undefined,
  finishBy: [],
  forbids: true,
  startWithinMs: undefined,
  clockChange: undefined,
  heard: { state: 'reached', reason: undefined, channels: ['team-chat'] },
};
const told = (changes: Partial<ForecastFacts>): string[] =>
  risksOf({ ...calm, ...changes }).map(({ code, level, words }) => `${code} ${level}: ${words}`);
const failures = (changes: Partial<FailuresInRow> = {}): FailuresInRow => ({
  alike: 2,
  cause: 'exit code 137, OOMKilled',
  couldNotStart: false,
  changedSince: false,
  ...changes,
});

describe('the risks of runs to come', () => {
  test('are none for what runs well, and none without a run', () => {
    assert.deepEqual(told({}), []);
    assert.deepEqual(told({ slots: [], failures: failures(), rate: { failed: 50, runs: 50 } }), []);
  });

  test('the newest two runs that failed alike are likely to go on, unless the template was changed', () => {
    assert.deepEqual(told({ failures: failures() }), [
      'repeats likely: Failed the last 2 runs: exit code 137, OOMKilled; nothing changed since',
    ]);
    assert.deepEqual(told({ failures: failures({ alike: 3, changedSince: true, cause: '' }) }), [
      'repeats possible: Failed the last 3 runs; its job template was changed since',
    ]);
    assert.deepEqual(told({ failures: failures({ alike: 1 }) }), []);
  });

  test('what a Job waits for in vain keeps all runs to come from starting', () => {
    assert.deepEqual(told({ waitsFor: 'Secret db is missing' }), [
      'cannot likely: Secret db is missing: 8 runs cannot start',
    ]);
    const lost = failures({ alike: 1, couldNotStart: true, cause: 'Image shop:4 cannot be pulled' });
    assert.deepEqual(told({ slots: [nine], failures: lost }), [
      'cannot likely: Image shop:4 cannot be pulled: its run cannot start',
    ]);
    assert.deepEqual(told({ failures: { ...lost, changedSince: true } }), [
      'cannot possible: Image shop:4 cannot be pulled at the last run; its job template was changed since',
    ]);
  });

  test('where all runs to come fail or do not start, the share that failed until now is not told beside it', () => {
    const rate = { failed: 40, runs: 60 };
    assert.deepEqual(told({ rate, waitsFor: 'Secret db is missing' }), [
      'cannot likely: Secret db is missing: 8 runs cannot start',
    ]);
    assert.deepEqual(told({ rate, failures: failures() }).length, 1);
    const changed = told({ rate, failures: failures({ changedSince: true }) });
    assert.deepEqual(changed.length, 2, 'a changed template may have mended it');
  });

  test('runs that the next one ends before they are done are likely to go on so', () => {
    const replaced = { isReplaced: true, forbids: false };
    assert.deepEqual(told(replaced), ['overlap likely: The next run ended the last one before it was done (Replace)']);
    assert.deepEqual(told({ ...replaced, slots: [] }), []);
  });

  test('a suspended CronJob starts nothing, and has no other risk', () => {
    const bad = { rate: { failed: 90, runs: 100 }, failures: failures(), maxDurationMs: 1 };
    assert.deepEqual(told({ ...bad, suspended: true }), ['cannot possible: Suspended: 8 runs do not start']);
    assert.deepEqual(told({ suspended: true, slots: [nine] }), ['cannot possible: Suspended: its run does not start']);
  });

  test('a schedule that expects no run is told although it has no run', () => {
    assert.deepEqual(told({ slots: [], problem: 'Not evaluated: no date matches' }), [
      'cannot likely: Not evaluated: no date matches',
    ]);
  });

  test('the share that fails is expected again, from 20 runs on', () => {
    const rate = (failed: number, runs: number, slots = 7): string[] =>
      told({ rate: { failed, runs }, slots: hourly(slots), durations: undefined });
    assert.deepEqual(rate(10, 60), ['rate possible: About 1 of 6 runs fails: expect 1 of 7']);
    assert.deepEqual(rate(3, 19), [], 'nineteen runs are too few');
    assert.deepEqual(rate(2, 20), [], 'less than one failure is expected');
    assert.deepEqual(rate(10, 60, 30), ['rate likely: About 1 of 6 runs fails: expect 5 of 30']);
    assert.deepEqual(rate(15, 20, 2), ['rate possible: 75 % of its runs fail: expect 2 of 2']);
    assert.deepEqual(rate(20, 20, 5), ['rate likely: All of its runs fail: expect 5 of 5']);
    assert.deepEqual(rate(999, 1_000, 5), ['rate possible: 99 % of its runs fail: expect 5 of 5']);
  });

  test('the median over a limit is likely to break it, the 95th percentile may', () => {
    const limit = (p50: number, p95: number): string[] =>
      told({
        durations: { p50Ms: p50 * minuteMs, p95Ms: p95 * minuteMs },
        maxDurationMs: 25 * minuteMs,
        forbids: false,
      });
    assert.deepEqual(limit(108, 120), ['limit likely: Takes 1 h 48 min, at most 25 min allowed']);
    assert.deepEqual(limit(20, 31), ['limit possible: 1 of 20 runs takes 31 min or longer, at most 25 min allowed']);
    assert.deepEqual(limit(25, 25), []);
  });

  test('a time of day counts from the start of the run that has to meet it', () => {
    const finishBy = [{ startAt: nine, doneAt: nine + hourMs }];
    const takes = (p50: number, p95: number): string[] =>
      told({ finishBy, durations: { p50Ms: p50 * minuteMs, p95Ms: p95 * minuteMs }, forbids: false });
    assert.deepEqual(takes(61, 90), ['limit likely: Takes 1 h 1 min, to be done by {at:2026-11-24T22:00:00.000Z}']);
    assert.deepEqual(takes(50, 61), [
      'limit possible: 1 of 20 runs takes 1 h 1 min or longer, to be done by {at:2026-11-24T22:00:00.000Z}',
    ]);
    assert.deepEqual(takes(60, 60), []);
  });

  test('runs that outlast their period make starts late, and skip what comes twice meanwhile', () => {
    const takes = (minutes: number, more: Partial<ForecastFacts> = {}): string[] =>
      told({ durations: { p50Ms: minutes * minuteMs, p95Ms: minutes * minuteMs }, ...more });
    assert.deepEqual(takes(69), [
      'overlap likely: Runs of 1 h 9 min cover the next start: 7 late, 1 skipped; start them less often or make them shorter',
    ]);
    assert.deepEqual(takes(60), [], 'a run may end as the next one starts');
    assert.deepEqual(takes(69, { forbids: false }), [], 'runs side by side are no overlap');
    assert.deepEqual(takes(69, { startWithinMs: 5 * minuteMs }), [
      'overlap likely: Runs of 1 h 9 min cover the next start: 4 skipped; start them less often or make them shorter',
    ]);
    const seldom = { durations: { p50Ms: minuteMs, p95Ms: 61 * minuteMs } };
    assert.deepEqual(told(seldom), [
      'overlap possible: 1 of 20 runs takes 1 h 1 min or longer and covers the next start',
    ]);
    const last = { slots: [nine], afterAt: nine + hourMs };
    assert.deepEqual(takes(61, last), [
      'overlap likely: Runs of 1 h 1 min cover the next start: 1 late; start them less often or make them shorter',
    ]);
  });

  test('what the clocks do and who does not hear are possible, and stand behind what is likely', () => {
    const heard = { state: 'nobody', reason: 'noChannel', channels: [] } as const;
    assert.deepEqual(told({ clockChange: '02:30 does not exist that day', heard, waitsFor: 'Secret a is missing' }), [
      'cannot likely: Secret a is missing: 8 runs cannot start',
      'lint possible: 02:30 does not exist that day',
      'deaf possible: If it fails, no channel is told: its monitor names no channel',
    ]);
    const clock = told({ slots: [], clockChange: '02:30 does not exist that day' });
    assert.deepEqual(
      clock,
      ['lint possible: 02:30 does not exist that day'],
      'the run that does not come has no start',
    );
  });

  test('a channel that is not proved is tried, so it hears', () => {
    assert.deepEqual(told({ heard: { state: 'unproved', reason: 'nothingAccepted', channels: ['a', 'b'] } }), []);
    assert.equal(heardWords({ state: 'unproved', reason: 'nothingAccepted', channels: ['a', 'b'] }), 'a, b hear it');
    assert.equal(heardWords(calm.heard), 'team-chat hears it');
    assert.equal(
      heardWords({ state: 'off', reason: undefined, channels: [] }),
      'If it fails, no channel is told: no monitor of it looks for failed runs',
    );
  });
});
