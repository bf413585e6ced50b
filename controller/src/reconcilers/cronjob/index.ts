export { createCronJobRecords } from './record.ts';
export { reconcileCronJobs } from './reconcile.ts';
export { createOutlooks } from './schedule-problem.ts';
export { watchCronJobs } from './watches.ts';
export { SpecSightings } from './spec-sightings.ts';
export type { Outlook } from './schedule-problem.ts';
