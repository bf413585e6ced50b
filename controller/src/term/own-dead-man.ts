import { symptomCauseOf, symptomsOf, type Problem } from '@cronjob-monitor/shared/domain';
import { findOldestDue } from '@cronjob-monitor/shared/store';
import { createUrlCall } from '../channels/index.ts';
import type { Evaluation } from './evaluation.ts';
import type { LeaderWorkDeps } from './deps.ts';
import { runOutboundHeartbeat } from '../leadership/index.ts';

interface OwnDeadManDeps extends Pick<
  LeaderWorkDeps,
  'settings' | 'store' | 'circuit' | 'problems' | 'watchAgesMs' | 'heartbeatMetrics' | 'clock' | 'logger'
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

/** A few words for each symptom that keeps us from saying that all is well: as of now, and whatever else keeps the process from its work. */
async function unwellBecause(deps: OwnDeadManDeps): Promise<readonly string[]> {
  const { settings, store, circuit, problems, clock } = deps;
  // The question is the proof that the database answers.
  const oldestAt = circuit.isOpen
    ? undefined
    : await findOldestDue(store, store.now()).catch((error: unknown) => {
        if (!deps.isAway(error)) throw error;
        return undefined;
      });
  const lastAt = deps.evaluatedAt();
  const evaluation = { name: 'dead-man-switch', lastAt, intervalMs: settings.schedulers.deadManSwitchMs };
  const found = symptomsOf({
    watchAgesMs: deps.watchAgesMs(),
    schedulers: [{ ...evaluation, ageMs: lastAt === undefined ? Infinity : clock.now() - lastAt }],
    outboxAgeMs: oldestAt === undefined ? 0 : store.now() - oldestAt,
  });
  const blocking = problems.current().filter(({ blocks }) => blocks);
  const away = circuit.isOpen ? ['CannotStore: database'] : [];
  return [...new Set([...away, ...[...found, ...blocking].map(wordsOf)])];
}

/** Without figures, which would be news at every look. */
function wordsOf({ key, cause }: Problem): string {
  return cause === undefined ? key : `${symptomCauseOf(cause).symptom}: ${key}`;
}
