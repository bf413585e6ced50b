/**
 * Work that several ask for at once, one run after the other. A caller gets a run that begins after it has asked: never one that
 * may have passed by what has changed since.
 */
export function joined<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<unknown> | undefined;
  let next: Promise<T> | undefined;

  async function begin(): Promise<T> {
    const run = work();
    const ended = run.then(
      () => {},
      () => {}, // the caller meets the error
    );
    running = ended;
    await ended;
    if (running === ended) running = undefined;
    return run;
  }

  async function beginAfter(before: Promise<unknown>): Promise<T> {
    await before;
    next = undefined;
    return begin();
  }

  return () => {
    if (next) return next;
    if (!running) return begin();
    next = beginAfter(running);
    return next;
  };
}
