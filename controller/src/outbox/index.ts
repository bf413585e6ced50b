export * from './alertmanager.ts';
export { createDigests, type Digests } from './digests.ts';
export * from './dispatcher.ts';
export type * from './dispatcher-deps.ts';
export * from './drills.ts';
export { freezeClaimed } from './freeze-claimed.ts';
export { Dependents, leaveToParents } from './take-back.ts';
export { createSecretReader } from './secret-reader.ts';
