export * from './due-or-open.ts';
export * from './nights.ts';
export * from './sla-recalculation.ts';
export * from './ticker.ts';
export { createPrune } from './prune.ts';
