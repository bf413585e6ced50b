import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { aTemporaryFolder } from '../testing/temporary-folder.ts';
import { systemClock } from './clock.ts';
import { BudgetError, createBudgetedThread, type BudgetedThread } from './worker.ts';

const budgetMs = 150;

/** Answers what is asked: a number is doubled, `spin` never ends, `throw` and `exit` fail in their ways. */
const program = `
import { parentPort } from 'node:worker_threads';
parentPort.on('message', (input) => {
  parentPort.postMessage({ kind: 'step', step: 'step of ' + input });
  if (input === 'spin') for (;;);
  if (input === 'fail') return parentPort.postMessage({ kind: 'failure', message: 'it cannot be done' });
  if (input === 'throw') throw new Error('thrown');
  if (input === 'exit') process.exit(3);
  parentPort.postMessage({ kind: 'output', output: input * 2 });
});
parentPort.postMessage({ kind: 'ready' });
`;

function aThread(context: TestContext, source = program): BudgetedThread<unknown, number> {
  const path = join(aTemporaryFolder(context), 'program.mjs');
  writeFileSync(path, source);
  const thread = createBudgetedThread<unknown, number>({ program: pathToFileURL(path), budgetMs, clock: systemClock });
  context.after(() => thread.close());
  return thread;
}

test('a thread answers one input after the other', async (context) => {
  const thread = aThread(context);
  assert.deepEqual(await Promise.all([thread.run(1), thread.run(2), thread.run(3)]), [2, 4, 6]);
  assert.equal(thread.waiting, 0);
});

test('a run over its budget is ended, says what it was at, and harms no run that waits behind it', async (context) => {
  const thread = aThread(context);
  const [endless, behind] = [thread.run('spin'), thread.run(4)];
  await assert.rejects(endless, (error) => error instanceof BudgetError && error.step === 'step of spin');
  assert.equal(await behind, 8);
});

test('while a run goes on for ever, the event loop does its work', async (context) => {
  const thread = aThread(context);
  const ended = new AbortController();
  const endless = thread.run('spin').catch(() => ended.abort());
  let turns = 0;
  systemClock.every(5, () => void turns++, ended.signal);
  await endless;
  assert.ok(turns > 5, `${turns} turns of the loop`);
});

test('a failure, an error and an exit of the program are told, and the next run has a thread again', async (context) => {
  const thread = aThread(context);
  await assert.rejects(thread.run('fail'), /it cannot be done/);
  await assert.rejects(thread.run('throw'), /thrown/);
  await assert.rejects(thread.run('exit'), /the thread ended/);
  assert.equal(await thread.run(5), 10);
});

test('a program that cannot begin fails the runs that wait, at once', async (context) => {
  const thread = aThread(context, 'throw new Error("no such thing")');
  await assert.rejects(Promise.all([thread.run(1), thread.run(2)]), /no such thing/);
});

test('a closed thread rejects what waits and what comes', async (context) => {
  const thread = aThread(context);
  const waiting = [thread.run('spin'), thread.run(1)].map((run) => assert.rejects(run, /closed/));
  await thread.close();
  await Promise.all(waiting);
  await assert.rejects(thread.run(1), /closed/);
});
