export { AlertmanagerUpkeep } from './alertmanager.ts';
export { createDigests, type Digests } from './digests.ts';
export { createDispatcher } from './dispatcher.ts';
export type { Dispatcher, DispatcherDeps } from './dispatcher-deps.ts';
export { Drills } from './drills.ts';
export { freezeClaimed } from './freeze-claimed.ts';
export { Dependents, leaveToParents } from './leave-to-parents.ts';
export { createSecretReader } from './secret-reader.ts';
