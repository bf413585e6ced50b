import type { Clock, Logger } from '@cronjob-monitor/shared/process';

import { messageOf } from './error-message.ts';

interface DatabaseOutageDeps {
  /** For how long the database has been away; 0 while it is there. */
  readonly awayForMs: () => number;
  /** Whether another controller pod is Ready. Rejects when it is unknown. */
  readonly hasReadyPeer: (signal: AbortSignal) => Promise<boolean>;
  /** Gives the Lease back and ends the process. */
  readonly resign: (why: string) => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Of the minute that a leader may be without its database, 15 s go by before and after: a database that swallows everything is noticed
 * by the next heartbeat and the limit of a statement, 12 s in all, and then the peers have to be asked.
 */
const givesUpAfterMs = 45_000;
const looksEveryMs = 1_000;
/** Peers are asked for at most so often. */
const asksEveryMs = 30_000;

/**
 * A leader that has not seen the database for a minute gives up if a healthy peer may reach it: the partition may be ours
 * alone. Without a peer it stays and keeps its memory, for then its end would not help. Runs until the signal aborts or it
 * has given up.
 */
export async function giveUpWithoutDatabase(deps: DatabaseOutageDeps, signal: AbortSignal): Promise<void> {
  const { clock, awayForMs, resign } = deps;
  let askAgainAtMs = -Infinity;
  while (!signal.aborted) {
    if (awayForMs() >= givesUpAfterMs && clock.monotonicMs() >= askAgainAtMs) {
      askAgainAtMs = clock.monotonicMs() + asksEveryMs;
      if (await hasReadyPeer(deps, signal)) return resign('the database is away and another replica is ready');
    }
    await clock.sleep(looksEveryMs, signal).catch(() => {});
  }
}

async function hasReadyPeer(deps: DatabaseOutageDeps, signal: AbortSignal): Promise<boolean> {
  try {
    return await deps.hasReadyPeer(signal);
  } catch (error) {
    if (!signal.aborted) deps.logger.warn('the other replicas cannot be seen', { reason: messageOf(error) });
    return false;
  }
}
