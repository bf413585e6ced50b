export { dueForPresence } from './dead-man-switch.ts';
export { createSlaRounds, type SlaRounds } from './sla-recalculation.ts';
export { dueForRunning } from './stuck-job-check.ts';
export { dueOrOpen } from './due-or-open.ts';
export { runSchedulers, type Scheduler } from './ticker.ts';
export { createPrune, type Prune, type PruneDeps, type PruneFigures, type PruneKind } from './prune.ts';
export { sealDays, type SealDaysDeps } from './seal-days.ts';
