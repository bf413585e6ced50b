export { AlertmanagerUpkeep, muteInWords, type AlertmanagerUpkeepDeps } from './alertmanager.ts';
export { createDigests, type DigestDeps, type Digests } from './digests.ts';
export { createDispatcher } from './dispatcher.ts';
export type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
export { Drills, type DrillDeps } from './drills.ts';
export { createSecretReader } from './secret-reader.ts';
