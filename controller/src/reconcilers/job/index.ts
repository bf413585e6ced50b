export type { GatheredJob } from './gather.ts';
export { createJobRecords } from './record.ts';
export { reconcileJobs, type RecordedRun, type RowOfRun } from './reconcile.ts';
export * from './intake.ts';
