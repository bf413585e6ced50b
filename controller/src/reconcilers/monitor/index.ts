export { createMonitorLint } from './lint.ts';
export { createMonitorRecords } from './record.ts';
export * from './reconcile.ts';
export * from './watches.ts';
