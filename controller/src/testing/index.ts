export { runCommand, type Said } from './console.ts';
export { LedgerRig, type LedgerRigOptions } from './ledger-rig.ts';
export { lookAtSecrets } from '../reconcilers/channel/secrets.ts';
export { settings as controllerSettings } from './recording-fixture.ts';
export { Registry } from 'prom-client';
