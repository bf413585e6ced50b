export { reconcileChannel } from './reconcile.ts';
