export { createCronJobRecords, reconcileCronJobs, createOutlooks, type Outlook } from './reconcile.ts';
export { watchCronJobs } from './watches.ts';
export { SpecSightings } from './spec-sightings.ts';
export { WordSightings } from './word-sightings.ts';
export { createMirror, type Mirror } from './mirror.ts';
export { createAnnotationEvents } from './annotation-events.ts';
