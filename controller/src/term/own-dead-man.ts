import { symptomCauseOf, symptomsOf, type Problem } from '@cronjob-monitor/shared/domain';
import { findOldestDue } from '@cronjob-monitor/shared/store';
import { createUrlCall } from '../channels/index.ts';
import type { Evaluation } from './evaluation.ts';
import type { LeaderWorkDeps } from './deps.ts';
import { type Clock, type Logger, messageOf } from '@cronjob-monitor/shared/process';

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

interface OutboundHeartbeatDeps {
  /** Calls the URL. Resolves with undefined when it worked, else with why not: words without anything of the URL. */
  readonly call: (signal: AbortSignal) => Promise<string | undefined>;
  /** A few words for each reason not to call; empty: all is well. A rejection is one more reason. */
  readonly unwellBecause: (signal: AbortSignal) => Promise<readonly string[]>;
  /** Epoch milliseconds. */
  readonly onSucceeded: (at: number) => void;
  readonly clock: Clock;
  readonly logger: Logger;
}

const everyMs = 60_000;
/** After a call that failed, so that one lost packet raises no alarm. */
const againMs = 15_000;
/** While something is not well. */
const lookMs = 5_000;

/**
 * Our own dead-man's switch: a receiver outside that misses these calls tells a person when this service cannot. It is called every minute
 * by the leader, only while all is well (high-availability.md section 6). Each change of what is wrong is one line in the log. Runs until
 * the signal aborts.
 */
export async function runOutboundHeartbeat(deps: OutboundHeartbeatDeps, signal: AbortSignal): Promise<void> {
  const { clock, logger } = deps;
  let told = '';
  const isNews = (reason: string): boolean => {
    const before = told;
    told = reason;
    return before !== reason;
  };

  while (!signal.aborted) {
    const startedMs = clock.monotonicMs();
    const unwell = await askWellness(deps, signal);
    if (signal.aborted) return;
    let waitMs = lookMs;
    if (unwell.length > 0) {
      const reason = unwell.join(', ');
      if (isNews(reason)) logger.warn('the outbound heartbeat is withheld', { reason });
    } else {
      const problem = await attempt(deps, signal);
      if (signal.aborted) return;
      if (problem === undefined) {
        if (isNews('')) logger.info('the outbound heartbeat works again');
        deps.onSucceeded(clock.now());
      } else if (isNews(problem)) {
        logger.warn('the outbound heartbeat failed', { reason: problem });
      }
      waitMs = problem === undefined ? startedMs + everyMs - clock.monotonicMs() : againMs;
    }
    await clock.sleep(waitMs, signal).catch(() => {}); // the end of the term
  }
}

async function askWellness(deps: OutboundHeartbeatDeps, signal: AbortSignal): Promise<readonly string[]> {
  try {
    return await deps.unwellBecause(signal);
  } catch (error) {
    return [`it could not be asked whether all is well: ${messageOf(error)}`];
  }
}

/** Whatever goes wrong is told without its words: they may hold the URL. */
async function attempt(deps: OutboundHeartbeatDeps, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await deps.call(signal);
  } catch {
    return 'it could not be called';
  }
}
