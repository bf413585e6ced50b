export * from './preview.ts';
export * from './judged-values.ts';
export * from './lane.ts';
export * from './suggest-limits.ts';
export { tellTruth, truthOf } from './truth.ts';
export type { PreviewedCronJob, PreviewedParent, PreviewedRun, PreviewedSlot } from './history.ts';
