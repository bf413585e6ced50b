export { AlertmanagerUpkeep, muteInWords, type AlertmanagerUpkeepDeps } from './alertmanager.ts';
export { completeAlerts, isExplainedBy, podStatusOf, type IncludedContext, type LearnedOfRun } from './complete.ts';
export { createDigests, type DigestDeps, type Digests } from './digests.ts';
export { createDispatcher } from './dispatcher.ts';
export type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
export { createFreeze, type FreezeDeps, type FreezeMessage, type MessageRequest, type ToldCronJob } from './freeze.ts';
export { toldAtOnce, type KnownOfRun, type ToldAtOnce } from './known-of-run.ts';
export { raise, type RaiseDeps, type RaisedAlert } from './raise.ts';
export { createSecretReader } from './secret-reader.ts';
