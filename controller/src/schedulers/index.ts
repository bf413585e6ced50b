export { dueForPresence, dueForRunning, dueOrOpen } from './due-or-open.ts';
export { Nights } from './nights.ts';
export { createSlaRounds, sealDays } from './sla-recalculation.ts';
export { runSchedulers, type Scheduler } from './ticker.ts';
export { createPrune } from './prune.ts';
