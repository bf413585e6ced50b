import type { Clock } from './clock.ts';

/** The time of the work was over before it ended. */
export class TimeLimitError extends Error {
  constructor(ms: number) {
    super(`no answer within ${ms / 1_000} s`);
    this.name = 'TimeLimitError';
  }
}

/** A time after which work is broken off. */
export interface TimeLimit {
  /** Aborts with a `TimeLimitError` when the time is over, or with the signal that the limit was made from. */
  readonly signal: AbortSignal;
  /** The time was over before the end. */
  readonly passed: boolean;
  /** The work is done: the limit aborts nothing any more. */
  end(): void;
}

/** Reason of an abort that only ends a wait: without one each abort would make an error with a trace of its own. */
export const waitIsOver = new Error('the wait is over');

/** Begins a limit of `ms`. `end` must follow. */
export function startTimeLimit(clock: Pick<Clock, 'sleep'>, ms: number, signal?: AbortSignal): TimeLimit {
  const done = new AbortController();
  const over = new AbortController();
  let passed = false;
  const end = (): void => {
    done.abort(waitIsOver);
    signal?.removeEventListener('abort', follow);
  };
  const follow = (): void => {
    over.abort(signal?.reason);
    end();
  };
  clock.sleep(Math.max(0, ms), done.signal).then(
    () => {
      passed = true;
      over.abort(new TimeLimitError(ms));
      end();
    },
    () => {}, // Ended or aborted before.
  );
  // A signal of its own and one listener: a combined signal costs ten times as much, and each message that is sent has two of them.
  if (signal?.aborted) follow();
  else signal?.addEventListener('abort', follow, { once: true });
  return {
    signal: over.signal,
    get passed() {
      return passed;
    },
    end,
  };
}

/**
 * What the work returns or throws; a `TimeLimitError` after `ms`, or the reason of the signal, as soon as either is there, also when the
 * work heeds neither. The work gets the signal that says so, and what comes of it later is forgotten.
 */
export async function withinLimit<Result>(
  of: { readonly clock: Pick<Clock, 'sleep'>; readonly ms: number; readonly signal?: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  of.signal?.throwIfAborted();
  const limit = startTimeLimit(of.clock, of.ms, of.signal);
  try {
    return await orAborted(work(limit.signal), limit.signal);
  } finally {
    limit.end();
  }
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
