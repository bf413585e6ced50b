import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FixPattern, FixQuestion, SuggestedFix } from '@cronjob-monitor/shared/domain';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { createFixSuggesting, type FixProblem } from './suggest-fixes.ts';

class Over extends Error {
  readonly step: string | undefined;
  constructor(step: string | undefined) {
    super('over');
    this.step = step;
  }
}

const pattern = (name: string): FixPattern => ({ name, match: { logPattern: name }, suggestion: name, priority: 101 });
const question: FixQuestion = {
  key: 'm/1',
  patterns: ['slow', 'slower', 'fast'].map(pattern),
  facts: { exitCode: 137, reasons: [], log: 'x', events: [] },
  values: {},
};
const found: SuggestedFix = { name: 'fast', priority: 101, isCustom: true, text: 'fast', logAt: 0 };

/** A thread that goes over its budget at the first of these patterns that it is given. */
function aThread(slow: readonly string[]) {
  const asked: string[][] = [];
  const problems: FixProblem[] = [];
  const clock = new FakeClock();
  const suggest = createFixSuggesting({
    run: ({ patterns }) => {
      const names = patterns.map(({ name }) => name);
      asked.push(names);
      const over = slow.find((name) => names.includes(name) || name === 'built-in');
      return over === undefined ? Promise.resolve(found) : Promise.reject(new Over(over));
    },
    overBudgetAt: (error) => (error instanceof Over ? { step: error.step } : undefined),
    report: (problem) => void problems.push(problem),
    clock,
  });
  return { suggest, asked, problems, clock };
}

test('a pattern that takes too long is named, and the others are asked without it', async () => {
  const { suggest, asked, problems } = aThread(['slow', 'slower']);
  assert.equal(await suggest(question), found);
  assert.deepEqual(asked, [['slow', 'slower', 'fast'], ['slower', 'fast'], ['fast']]);
  assert.deepEqual(
    problems.map(({ key, pattern: named }) => [key, named]),
    [
      ['m/1', 'slow'],
      ['m/1', 'slower'],
    ],
  );
});

test('it rests for an hour, for this generation of the monitor', async () => {
  const { suggest, asked, clock, problems } = aThread(['slow']);
  await suggest(question);
  await suggest(question);
  assert.deepEqual(asked.at(-1), ['slower', 'fast']);
  await suggest({ ...question, key: 'm/2' });
  assert.equal(problems.length, 2);
  await clock.advance(3_600_001);
  await suggest(question);
  assert.equal(problems.length, 3);
});

test('when nothing helps, exit codes and reasons decide', async () => {
  const { suggest, asked, problems } = aThread(['built-in']);
  assert.equal((await suggest(question))?.name, 'sigkill');
  assert.deepEqual([asked.length, problems.length], [1, 1]);
  const all = aThread(['slow', 'slower', 'fast']);
  assert.equal((await all.suggest(question))?.name, 'sigkill');
});
