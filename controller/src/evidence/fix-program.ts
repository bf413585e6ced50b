import { parentPort } from 'node:worker_threads';
import { answerInThread, compileFixes, createFixMatcher, tryFix } from '@cronjob-monitor/shared/domain';

// Compiles the built-in patterns before the first question, outside of its time budget.
const anything = { exitCode: undefined, reasons: [''], log: '', events: [''] };
for (const fix of compileFixes()) tryFix(fix, anything);

/** Runs in a thread, searches for the patterns that users wrote, and reports the pattern it is at. */
answerInThread(parentPort, createFixMatcher());
