import { systemClock, type Clock } from './clock.ts';
import { keepHeapSmall } from './heap.ts';
import { createLifecycle, isAbort, type Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';
import { installSignals } from './signals.ts';

export interface ProcessDeps {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Small where much is held for long, fast where much is made for answers and let go. */
  readonly heap: 'small' | 'fast';
  /** Wires and starts everything; each part registers its stop. */
  readonly compose: (lifecycle: Lifecycle) => Promise<void>;
}

/**
 * Runs a process from its wiring to its end: signals stop it in order, and a failed start, work that failed in the background
 * or an error that nobody caught ends it with 1, after what was started has been stopped.
 */
export async function runProcess({ logger, clock = systemClock, heap, compose }: ProcessDeps): Promise<void> {
  if (heap === 'small') keepHeapSmall();
  const lifecycle = createLifecycle({ clock, logger, onFailure: () => ending.stop(1) });
  const ending = installSignals({ lifecycle, clock, logger });
  const fail = (message: string) => (error: unknown) => {
    logger.error(message, { error });
    ending.stop(1);
  };
  process.on('uncaughtException', fail('an error that nobody caught'));
  process.on('unhandledRejection', fail('a rejection that nobody caught'));
  try {
    await lifecycle.start(() => compose(lifecycle));
  } catch (error) {
    if (lifecycle.stopping.aborted && isAbort(error, lifecycle.stopping)) return; // A signal came while it started.
    fail('the start failed')(error);
  }
}
