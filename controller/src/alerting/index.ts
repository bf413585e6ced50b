export * from './complete.ts';
export { createFreeze, withLearned, type FreezeMessage, type MessageRequest, type ToldCronJob } from './freeze.ts';
export { hearsOfBoth } from './notify-end.ts';
export { raise, type RaisedAlert } from './raise.ts';
