export { createMonitorLint } from './lint.ts';
export { createMonitorRecords } from './record.ts';
export { reconcileMonitor } from './reconcile.ts';
export { watchMonitors } from './watches.ts';
