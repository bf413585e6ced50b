import type { Clock } from '../process/index.ts';

/** The life of one exchange: it ends when the caller's signal aborts or a time limit runs out, whichever is first. */
export interface ExchangeScope {
  readonly signal: AbortSignal;
  /** The limit ran out before it was lifted. */
  readonly timedOut: boolean;
  /** On the monotonic clock: when the limit was last set. */
  readonly startedAtMs: number;
  limit(ms: number): void;
  liftLimit(): void;
  /** Lets go of the caller's signal and of the limit. */
  release(): void;
}

/** One for all: without a reason each abort would make an error with a trace of its own. */
const lifted = new Error('the limit is lifted');

export function openScope(outer: AbortSignal, clock: Clock): ExchangeScope {
  const inner = new AbortController();
  let timer = new AbortController();
  let timedOut = false;
  let startedAtMs = clock.monotonicMs();
  const relay = (): void => inner.abort(outer.reason);
  if (outer.aborted) relay();
  else outer.addEventListener('abort', relay, { once: true });
  return {
    signal: inner.signal,
    get timedOut() {
      return timedOut;
    },
    get startedAtMs() {
      return startedAtMs;
    },
    limit(ms) {
      timer = new AbortController();
      startedAtMs = clock.monotonicMs();
      clock.sleep(ms, timer.signal).then(
        () => {
          timedOut = true;
          inner.abort(new Error('the time limit of the call ran out'));
        },
        () => undefined, // lifted in time
      );
    },
    liftLimit: () => timer.abort(lifted),
    release() {
      timer.abort(lifted);
      outer.removeEventListener('abort', relay);
    },
  };
}
