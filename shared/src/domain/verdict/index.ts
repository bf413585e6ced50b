export * from './cron-job-words.ts';
export { exitInWords, instantIn, limitInWords } from './figures.ts';
export * from './holds.ts';
export * from './patch-steps.ts';
export * from './print-words.ts';
export { hasOutcome, standingOf, statusOf, type Standing } from './standing.ts';
export { missingIn, openRunOf, sharedCause, stepOf, waitingCause } from './step.ts';
export * from './targets.ts';
export * from './verdict-of.ts';
