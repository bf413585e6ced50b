import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { test } from 'node:test';
import { compileFixes, type FixPattern, type FixQuestion, type SuggestedFix } from '@cronjob-monitor/shared/domain';
import { BudgetError, createBudgetedThread, systemClock } from '@cronjob-monitor/shared/process';

const budgetMs = 250;
const mostLagMs = 50;
const mostTrials = 8;
/** Between two looks of the measuring itself. */
const resolutionMs = 5;

/** Each makes a backtracking engine run for years on a long row of one letter; none matches. */
const shapes = [
  '(a+)+$|b{N}',
  '(a|aa)+c{N}$',
  '(.*)*x{N}$',
  '(a+a+)+y{N}',
  '([a-z]+)*[0-9]{N}',
  '(?i)(a|b|ab)*c{N}',
  '.*.*.*.*.*.*=.{N}',
  'a{1,900}b{N}',
  '(?s).{1,900}y{N}$',
  '(a*)*(a*)*(a*)*z{N}',
];
const patterns: FixPattern[] = Array.from({ length: 50 }, (_, index) => ({
  name: `hostile-${index}`,
  match: {
    logPattern: (shapes[index % shapes.length] ?? '').replace('{N}', `{${1 + index}}`).replace('$|b', 'X$|b'),
  },
  suggestion: 'never',
  priority: 1_000 - index,
}));

/** A linear engine follows hundreds of threads through each letter of a text at random: seconds for all of them on any machine. */
const slowPatterns: FixPattern[] = Array.from({ length: 20 }, (_, index) => ({
  name: `hostile-${index}`,
  match: { logPattern: `(?s)[ab].{300}[bc].{300}[cd].{${280 + index}}[^abcd]` },
  suggestion: 'never',
  priority: 1_000 - index,
}));

test('F47: 50 hostile patterns against 100 KB stall nothing, and the one that took too long is named', async (context) => {
  compileFixes(patterns); // all of them are valid: nothing refuses them before
  const thread = createBudgetedThread<FixQuestion, SuggestedFix | undefined>({
    program: new URL('../../controller/src/evidence/fix-program.ts', import.meta.url),
    budgetMs,
    clock: systemClock,
  });
  context.after(() => thread.close());
  const asked = (log: string, own: readonly FixPattern[]): FixQuestion => ({
    key: `m/${own.length}`,
    patterns: own,
    facts: { exitCode: 3, reasons: ['Error'], log, events: [] },
    values: { ExitCode: '3' },
  });
  const quick = asked('a log of one line', []);
  const hostile = asked('a'.repeat(100 * 1024), patterns);
  const slow = asked(lettersAtRandom(100 * 1024), slowPatterns);

  let lagMs = Infinity;
  // A loop that the patterns stall is stalled each time; one whose machine is busy is not.
  for (let trial = 0; trial < mostTrials && lagMs >= mostLagMs; trial++) {
    assert.equal((await thread.run(quick))?.name, 'exit-range'); // the thread is there: its start is not measured
    lagMs = Math.min(lagMs, await lagDuring(() => answersOrNamesPattern(thread.run(hostile))));
  }
  assert.ok(lagMs < mostLagMs, `the event loop lagged ${lagMs.toFixed(1)} ms`);
  await assert.rejects(thread.run(slow), namesPattern);
  assert.equal((await thread.run(quick))?.name, 'exit-range', 'the next run is answered');
});

function lettersAtRandom(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return 'abcd'.charAt(state % 4);
  }).join('');
}

/** A quick machine is through within the budget, and then no hostile pattern is the answer. */
async function answersOrNamesPattern(answer: Promise<SuggestedFix | undefined>): Promise<void> {
  try {
    assert.equal((await answer)?.name, 'exit-range');
  } catch (error) {
    namesPattern(error);
  }
}

function namesPattern(error: unknown): boolean {
  assert.ok(error instanceof BudgetError, `the budget error is reported: ${String(error)}`);
  assert.match(error.step ?? '', /^hostile-[0-9]+$/);
  return true;
}

/** The 99th percentile. */
async function lagDuring(work: () => Promise<void>): Promise<number> {
  const histogram = monitorEventLoopDelay({ resolution: resolutionMs });
  histogram.enable();
  await work();
  histogram.disable();
  return histogram.percentile(99) / 1e6 - resolutionMs;
}
