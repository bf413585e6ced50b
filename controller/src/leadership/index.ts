export { giveUpWithoutDatabase, hasReadyPeer } from './database-outage.ts';
export { Heartbeat } from './heartbeat.ts';
export { LeaderLock } from './leader-lock.ts';
export { LeaseElection, type LeaseFailure } from './lease.ts';
export { toIdentity } from './lease-record.ts';
export { BeatGuard, guardMs, type SendGuard } from './send-guard.ts';
export { Terms, type StopWork, type Term } from './term.ts';
export { startWatchdog } from './watchdog.ts';
