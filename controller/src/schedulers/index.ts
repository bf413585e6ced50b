export { dueForPresence, dueForRunning, dueOrOpen } from './due-or-open.ts';
export { Nights } from './nights.ts';
export { createSlaRounds } from './sla-recalculation.ts';
export { runSchedulers, type Scheduler } from './ticker.ts';
export { createPrune } from './prune.ts';
export { sealDays } from './seal-days.ts';
