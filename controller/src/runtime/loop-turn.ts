/**
 * Resolves in the next turn of the event loop, after waiting I/O had its chance: long work in pieces awaits it between the
 * pieces. No time is measured, so it needs no clock.
 */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
