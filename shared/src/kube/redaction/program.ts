import { parentPort } from 'node:worker_threads';
import type { ThreadAnswer } from '../../process/index.ts';
import { createRedactionAnswers, type RedactionAnswer, type RedactionQuestion } from './question.ts';

/** The program of the thread in which large texts are redacted. */
const answer = createRedactionAnswers();

parentPort?.on('message', (question: RedactionQuestion) => {
  try {
    post({ kind: 'output', output: answer(question) });
  } catch (error) {
    post({ kind: 'failure', message: error instanceof Error ? error.message : String(error) });
  }
});
post({ kind: 'ready' });

function post(said: ThreadAnswer<RedactionAnswer>): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- threads have no origin, windows have.
  parentPort?.postMessage(said);
}
