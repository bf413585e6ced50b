/** The timers of the page: everything that waits goes through here. */

/** Runs once, later. Returns what prevents it. */
export function after(ms: number, run: () => void): () => void {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Runs again and again. Returns what ends it. */
export function every(ms: number, run: () => void): () => void {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/** Aborts by itself after some time. */
export function timeLimit(ms: number): AbortSignal {
  return AbortSignal.timeout(ms);
}
