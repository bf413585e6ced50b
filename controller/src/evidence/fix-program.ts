import { parentPort } from 'node:worker_threads';
import { compileFixes, createFixMatcher, type FixQuestion, type SuggestedFix } from '@cronjob-monitor/shared/domain';
import type { ThreadAnswer } from '@cronjob-monitor/shared/process';

/** The program of the thread in which patterns that people wrote are looked for. It says which one it is at. */
const suggest = createFixMatcher();

parentPort?.on('message', (question: FixQuestion) => {
  try {
    post({ kind: 'output', output: suggest(question, (step) => post({ kind: 'step', step })) });
  } catch (error) {
    post({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
  }
});
// The built-in ones are compiled before the first question: that is part of no question's budget.
compileFixes();
post({ kind: 'ready' });

function post(answer: ThreadAnswer<SuggestedFix | undefined>): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
  parentPort?.postMessage(answer);
}
