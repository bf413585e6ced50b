/** Time, injected: nothing else in the product reads a clock or sets a timer. */
export interface Clock {
  /** Wall clock, epoch milliseconds. */
  now(): number;
  /** Monotonic milliseconds: for durations and deadlines, unmoved by clock steps. */
  monotonicMs(): number;
  /** Resolves after `ms`; rejects with the signal's reason when aborted. Any length: long ones are cut and re-armed. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /**
   * Calls `fn` every `ms` until aborted, never twice at once; a throwing `fn` does not stop it. The first call is after `ms`;
   * calls that fall due while one still runs are left out.
   */
  every(ms: number, fn: () => void | Promise<void>, signal: AbortSignal): void;
}

/** The longest delay of one timer: a longer one would fire at once. */
const maxTimerMs = 2 ** 31 - 1;

/** The machine's own time. What a function given to `every` throws is written to standard error as a process warning. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  sleep,
  every: (ms, fn, signal) => repeat(systemClock, ms, fn, signal),
};

async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  const wakesAtMs = performance.now() + ms;
  for (let leftMs = ms; leftMs > 0; leftMs = wakesAtMs - performance.now()) {
    await timer(Math.min(leftMs, maxTimerMs), signal);
  }
  signal?.throwIfAborted();
}

function timer(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timeout);
      reject(signal?.reason);
    };
    const timeout = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, Math.ceil(ms));
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

/** `every` of any clock, on its `sleep`: the beat is kept however long `fn` takes. */
export function repeat(
  clock: Pick<Clock, 'sleep' | 'monotonicMs'>,
  ms: number,
  fn: () => void | Promise<void>,
  signal: AbortSignal,
): void {
  const beat = async () => {
    let dueMs = clock.monotonicMs() + ms;
    for (;;) {
      await clock.sleep(Math.max(0, dueMs - clock.monotonicMs()), signal);
      try {
        await fn();
      } catch (error) {
        process.emitWarning(`a repeated task failed: ${error instanceof Error ? error.message : 'unknown error'}`);
      }
      dueMs += ms * (Math.floor((clock.monotonicMs() - dueMs) / ms) + 1);
    }
  };
  beat().catch(() => {}); // The signal has ended it; `sleep` has no other reason to fail.
}
