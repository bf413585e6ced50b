import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from '@cronjob-monitor/shared/process';
import { tryPattern, type PatternAnswer, type PatternQuestion } from './try-pattern.ts';

/** The program of the thread in which the patterns of callers are tried. */
parentPort?.on('message', (question: PatternQuestion) => {
  try {
    post({ kind: 'output', output: tryPattern(question, (step) => post({ kind: 'step', step })) });
  } catch (error) {
    post({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
  }
});
post({ kind: 'ready' });

function post(answer: ThreadAnswer<PatternAnswer>): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
  parentPort?.postMessage(answer);
}
