import { tooBusy } from '../errors.ts';

/** What runs at once in this process, and for one caller among them, in units: a whole list is one. */
const mostAtOnce = 32;
const mostOfOne = 24;
/** A whole list takes about a second. */
const retryAfterSeconds = 1;

/** Counts the expensive reads that run, so that they leave room for the cheap ones, and one caller for the others. */
export interface ExpensiveReads {
  /** Call the result when it has ended. Throws RATE_LIMITED when there is no room. */
  enter(caller: string, units: number): () => void;
}

export function createExpensiveReads(limits = { mostAtOnce, mostOfOne }): ExpensiveReads {
  const running = new Map<string, number>();
  let all = 0;
  return {
    enter(caller, units) {
      const ofCaller = running.get(caller) ?? 0;
      if (all + units > limits.mostAtOnce || ofCaller + units > limits.mostOfOne) throw tooBusy(retryAfterSeconds);
      all += units;
      running.set(caller, ofCaller + units);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        all -= units;
        const left = (running.get(caller) ?? units) - units;
        if (left <= 0) running.delete(caller);
        else running.set(caller, left);
      };
    },
  };
}
