import { parentPort } from 'node:worker_threads';
import { answerInThread, compileFixes, createFixMatcher, tryFix } from '@cronjob-monitor/shared/domain';

// The built-in ones are compiled before the first question: that is part of no question's budget.
const anything = { exitCode: undefined, reasons: [''], log: '', events: [''] };
for (const fix of compileFixes()) tryFix(fix, anything);

/** The program of the thread in which patterns that people wrote are looked for. It says which one it is at. */
answerInThread(parentPort, createFixMatcher());
