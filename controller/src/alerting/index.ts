export { completeAlerts, isExplainedBy, podStatusOf, type LearnedOfRun } from './complete.ts';
export { createFreeze, withLearned, type FreezeMessage, type MessageRequest, type ToldCronJob } from './freeze.ts';
export { toldAtOnce, type KnownOfRun, type ToldAtOnce } from './known-of-run.ts';
export { hearsOfBoth } from './notify-end.ts';
export { raise, type RaiseDeps, type RaisedAlert } from './raise.ts';
