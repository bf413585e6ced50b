import { parentPort } from 'node:worker_threads';
import { answerInThread } from '../../contract/thread.ts';
import { createRedactionAnswers } from './safe-template.ts';

/** The program of the thread in which large texts are redacted. */
answerInThread(parentPort, createRedactionAnswers());
