export { previewCronJob, type PreviewedAlert, type PreviewRange, type PreviewRules } from './preview.ts';
export type { PreviewAlertRules } from './alert-life.ts';
export type { PreviewedCronJob, PreviewedRun, PreviewedSlot } from './history.ts';
