export { toUnobserved } from './abandoned.ts';
export type { GatheredJob } from './gather.ts';
export { createPodMemory, type PodMemory } from './pod-memory.ts';
export { createJobRecords } from './record.ts';
export { reconcileJobs, type RecordedRun, type RowOfRun } from './reconcile.ts';
export { watchJobs } from './watches.ts';
export { type JobIntake, createJobIntake } from './intake.ts';
