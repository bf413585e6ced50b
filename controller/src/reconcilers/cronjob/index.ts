export { createCronJobRecords, reconcileCronJobs, createOutlooks, type Outlook } from './reconcile.ts';
export * from './watches.ts';
export * from './unwritten-edits.ts';
export * from './mirror.ts';
export * from './annotation-events.ts';
