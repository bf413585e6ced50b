export { runCommand, type Said } from './console.ts';
export { LedgerRig, type LedgerRigOptions } from './ledger-rig.ts';
export { settings as controllerSettings } from './recording-fixture.ts';
export { Registry } from 'prom-client';
export { lookAtSecrets } from '../reconcilers/channel/reconcile.ts';
