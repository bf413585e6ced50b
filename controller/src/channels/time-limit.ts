import type { Clock } from '@cronjob-monitor/shared/process';

/** A time after which work is broken off. */
export interface TimeLimit {
  /** Aborts when the time is over, or when the signal it was made from does. */
  readonly signal: AbortSignal;
  /** Whether it was the time. */
  readonly passed: boolean;
  /** The work is done: nothing waits any more. */
  end(): void;
}

/** One for all: without a reason each abort would make an error with a trace of its own. */
const ended = new Error('the work is done');

export function startTimeLimit(clock: Pick<Clock, 'sleep'>, ms: number, signal: AbortSignal): TimeLimit {
  const done = new AbortController();
  const over = new AbortController();
  let passed = false;
  clock.sleep(ms, AbortSignal.any([done.signal, signal])).then(
    () => {
      passed = true;
      over.abort(new Error('the time is over'));
    },
    () => {}, // Ended or aborted before.
  );
  return {
    signal: AbortSignal.any([over.signal, signal]),
    get passed() {
      return passed;
    },
    end: () => done.abort(ended),
  };
}

/** The result, or the signal's reason as soon as it is aborted; what comes later is forgotten. */
export async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  if (signal.aborted) onAbort();
  signal.addEventListener('abort', onAbort, { once: true });
  work.catch(() => {}); // The caller hears of it, unless it has aborted.
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
