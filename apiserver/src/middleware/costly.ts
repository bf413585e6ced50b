import type { Clock } from '@cronjob-monitor/shared/process';
import { rateLimited, tooBusy } from '../errors.ts';

/** Callers remembered at once; the one that waited longest is forgotten first. */
const maxCallers = 10_000;
const minuteMs = 60_000;

/** Counts the costly calls of each caller in this process. */
export interface CostlyCalls {
  /** Takes one call of this minute, or throws RATE_LIMITED. Call the result to give it back: refused calls do not count. */
  take(caller: string): () => void;
}

/** At most `perMinute` calls in any minute, per caller: an instant for each call taken, dropped when a minute old. */
export function createCostlyCalls(deps: { readonly clock: Clock; readonly perMinute: number }): CostlyCalls {
  const taken = new Map<string, number[]>();
  return {
    take(caller) {
      const nowMs = deps.clock.monotonicMs();
      const calls = (taken.get(caller) ?? []).filter((atMs) => atMs > nowMs - minuteMs);
      const [oldestMs] = calls;
      if (calls.length >= deps.perMinute && oldestMs !== undefined) {
        throw rateLimited(Math.max(1, Math.ceil((oldestMs + minuteMs - nowMs) / 1000)));
      }
      calls.push(nowMs);
      taken.delete(caller);
      taken.set(caller, calls); // last in order: the callers at the front are the quiet ones
      for (const quiet of taken.keys()) {
        if (taken.size <= maxCallers) break;
        taken.delete(quiet);
      }
      return () => {
        const index = taken.get(caller)?.indexOf(nowMs) ?? -1;
        if (index >= 0) taken.get(caller)?.splice(index, 1);
      };
    },
  };
}

/** Costly reads that run at once in this process, and for one caller, in units: a whole list is one unit. */
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
