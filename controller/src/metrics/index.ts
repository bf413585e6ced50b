export * from './watch.ts';
export * from './deliveries.ts';
export * from './fleet.ts';
export * from './leadership.ts';
export * from './reconcile.ts';
export * from './product.ts';
export * from './sla.ts';
export * from './upkeep.ts';
export { VerdictMetrics } from './verdicts.ts';
