export type { GatheredJob } from './gather.ts';
export { createJobRecords } from './record.ts';
export { reconcileJobs, type RecordedRun, type RowOfRun } from './reconcile.ts';
export { type JobIntake, createJobIntake } from './intake.ts';
