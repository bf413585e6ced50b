import { findOldestDue } from '@cronjob-monitor/shared/store';
import { createUrlCall } from '../channels/index.ts';
import type { Evaluation } from './evaluation.ts';
import type { LeaderWorkDeps } from './leader-work.ts';
import { runOutboundHeartbeat, whyUnwell } from '../leadership/index.ts';

export interface OwnDeadManDeps extends Pick<
  LeaderWorkDeps,
  'settings' | 'store' | 'circuit' | 'watchAgesMs' | 'heartbeatMetrics' | 'clock' | 'logger'
> {
  readonly evaluatedAt: Evaluation['evaluatedAt'];
  readonly sending: Omit<Parameters<typeof createUrlCall>[1], 'clock'>;
  readonly isAway: (error: unknown) => boolean;
}

/** Calls the receiver outside that misses us when we cannot send, while all is well; without an address it does nothing. */
export async function runOwnDeadMan(deps: OwnDeadManDeps, signal: AbortSignal): Promise<void> {
  const { settings, sending, heartbeatMetrics, clock, logger } = deps;
  if (settings.heartbeatUrl === undefined) return;
  const call = createUrlCall(settings.heartbeatUrl, { ...sending, clock });
  await runOutboundHeartbeat(
    {
      call,
      unwellBecause: () => unwellBecause(deps),
      onSucceeded: (at) => heartbeatMetrics.succeeded(at),
      clock,
      logger,
    },
    signal,
  );
  heartbeatMetrics.stopped();
}

async function unwellBecause(deps: OwnDeadManDeps): Promise<readonly string[]> {
  const { settings, store, circuit, clock } = deps;
  const evaluatedAt = deps.evaluatedAt();
  const known = {
    watchAgesMs: deps.watchAgesMs(),
    evaluationAgeMs: evaluatedAt === undefined ? undefined : clock.now() - evaluatedAt,
    evaluationIntervalMs: settings.schedulers.deadManSwitchMs,
  };
  if (circuit.isOpen) return whyUnwell({ ...known, isDatabaseAway: true, outboxAgeMs: 0 });
  const now = store.now();
  // The question is the proof that the database answers.
  const oldestAt = await findOldestDue(store, now).catch((error: unknown) => {
    if (!deps.isAway(error)) throw error;
    return undefined;
  });
  const outboxAgeMs = oldestAt === undefined ? 0 : now - oldestAt;
  return whyUnwell({ ...known, isDatabaseAway: circuit.isOpen, outboxAgeMs });
}
