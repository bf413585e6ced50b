export { createCronJobRecords, reconcileCronJobs, createOutlooks, type Outlook } from './reconcile.ts';
export * from './watches.ts';
export * from './word-sightings.ts';
export * from './mirror.ts';
export * from './annotation-events.ts';
