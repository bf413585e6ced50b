import type { SchedulerName } from '@cronjob-monitor/shared/contract';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

/** Work that is repeated under one name, which health and metrics show. */
export interface Scheduler {
  readonly name: SchedulerName;
  readonly intervalMs: number;
  readonly run: (signal: AbortSignal) => Promise<void>;
}

interface TickerDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Why schedulers have to wait; undefined: they may run. */
  readonly postponedBecause: () => string | undefined;
  readonly onRan: (name: Scheduler['name'], outcome: { readonly isOk: boolean; readonly durationMs: number }) => void;
  /** True: the error is a lost lead or an absent database, which is no failure of the scheduler. */
  readonly onError: (error: unknown) => boolean;
}

const lookEveryMs = 1_000;

/**
 * Runs each scheduler at its interval, one after the other in their order, so that those due in the same second are one pass. The first
 * round is at once. A round that fails is made up for at the next look.
 */
export async function runSchedulers(
  schedulers: readonly Scheduler[],
  deps: TickerDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clock } = deps;
  const dueMs = new Map(schedulers.map(({ name }) => [name, clock.monotonicMs()]));
  while (!signal.aborted) {
    const reason = deps.postponedBecause();
    for (const scheduler of reason === undefined ? schedulers : []) {
      const beganMs = clock.monotonicMs();
      if (signal.aborted || (dueMs.get(scheduler.name) ?? 0) > beganMs) continue;
      const isOk = await attempt(scheduler, deps, signal);
      if (isOk) dueMs.set(scheduler.name, beganMs + scheduler.intervalMs);
      deps.onRan(scheduler.name, { isOk, durationMs: clock.monotonicMs() - beganMs });
    }
    await clock.sleep(lookEveryMs, signal).catch(() => {});
  }
}

async function attempt(scheduler: Scheduler, deps: TickerDeps, signal: AbortSignal): Promise<boolean> {
  try {
    await scheduler.run(signal);
    return true;
  } catch (error) {
    if (!signal.aborted && !deps.onError(error)) {
      deps.logger.error('a scheduler failed and is tried again', { scheduler: scheduler.name, error });
    }
    return false;
  }
}
