import { parentPort } from 'node:worker_threads';
import { answerInThread } from '@cronjob-monitor/shared/contract';
import { tryPattern } from './try-pattern.ts';

/** The program of the thread in which the patterns of callers are tried. */
answerInThread(parentPort, tryPattern);
