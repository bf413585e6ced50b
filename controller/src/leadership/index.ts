export * from './database-outage.ts';
export * from './heartbeat.ts';
export * from './leader-lock.ts';
export { LeaseElection, type LeaseFailure, toIdentity } from './lease.ts';
export * from './send-guard.ts';
export { Terms, type StopWork, type Term } from './term.ts';
export * from './watchdog.ts';
