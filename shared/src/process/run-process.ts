import { systemClock, type Clock } from './clock.ts';
import { createLifecycle, isAbort, type Lifecycle } from './lifecycle.ts';
import type { Logger } from './logger.ts';

/**
 * Runs a process from its wiring to its end: signals stop it in order, and a failed start, work that failed in the background
 * or an error that was not caught ends it with 1, after what was started has been stopped.
 */
export async function runProcess({
  logger,
  clock = systemClock,
  compose,
}: {
  readonly logger: Logger;
  readonly clock?: Clock;
  /** Wires and starts everything; each part registers its stop. */
  readonly compose: (lifecycle: Lifecycle) => Promise<void>;
}): Promise<void> {
  const lifecycle = createLifecycle({ clock, logger, onFailure: () => ending.stop(1) });
  const ending = installSignals({ lifecycle, clock, logger });
  const fail = (message: string) => (error: unknown) => {
    logger.error(message, { error });
    ending.stop(1);
  };
  process.on('uncaughtException', fail('an error was not caught'));
  process.on('unhandledRejection', fail('a rejected promise was not handled'));
  try {
    await lifecycle.start(() => compose(lifecycle));
  } catch (error) {
    if (lifecycle.stopping.aborted && isAbort(error, lifecycle.stopping)) return; // A signal came while it started.
    fail('the start failed')(error);
  }
}

/** The part of a process that signals need; a test hands in its own. */
interface SignalSource {
  on(event: NodeJS.Signals, listener: () => void): unknown;
  off(event: NodeJS.Signals, listener: () => void): unknown;
}

const signals = ['SIGTERM', 'SIGINT'] as const;
const defaultStopMs = 40_000;
/** One Ctrl-C arrives from the terminal and from each program in between that hands it on: within this time it is the same one. */
const sameSignalMs = 2_000;

/** What can end a process besides a signal. */
interface Ending {
  /** Stops in order and ends the process: with 0, or 1 when something failed or was given up. */
  stop(status: 0 | 1): void;
  /** Leaves the signals alone again. */
  dispose(): void;
}

/**
 * SIGTERM and SIGINT stop the process in order; it ends with 0. A second signal, two seconds after the first or later, or 40 s, ends it at
 * once with 1, and what it held (a Lease) has to expire. What comes within two seconds is the first signal, handed on by another program.
 */
export function installSignals(deps: {
  readonly lifecycle: Pick<Lifecycle, 'stop'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Ends the process; absent: this one. */
  readonly exit?: (status: number) => void;
  readonly source?: SignalSource;
  /** Time of a whole stop. */
  readonly stopMs?: number;
}): Ending {
  const { lifecycle, clock, logger } = deps;
  const exit = deps.exit ?? ((status) => process.exit(status));
  const source = deps.source ?? process;
  const stopMs = deps.stopMs ?? defaultStopMs;
  const inTime = new AbortController();
  let isStopping = false;
  let signalledMs: number | undefined;

  const stop = async (status: 0 | 1) => {
    const good = await lifecycle.stop();
    inTime.abort();
    exit(good ? status : 1);
  };
  const begin = (status: 0 | 1) => {
    if (isStopping) return;
    isStopping = true;
    stop(status).catch((error: unknown) => {
      logger.error('the stop failed', { error });
      exit(1);
    });
    clock.sleep(stopMs, inTime.signal).then(
      () => {
        logger.error('the stop takes too long, the process ends', { stopMs });
        exit(1);
      },
      () => {}, // It ended in time.
    );
  };
  const listeners = signals.map((signal) => {
    const listener = () => {
      const nowMs = clock.monotonicMs();
      if (signalledMs !== undefined && nowMs - signalledMs < sameSignalMs) return;
      signalledMs ??= nowMs;
      if (isStopping) {
        logger.error('a second signal, the process ends', { signal });
        exit(1);
        return;
      }
      logger.info('a signal, the process stops', { signal });
      begin(0);
    };
    source.on(signal, listener);
    return [signal, listener] as const;
  });
  return {
    stop: begin,
    dispose: () => {
      inTime.abort();
      for (const [signal, listener] of listeners) source.off(signal, listener);
    },
  };
}
