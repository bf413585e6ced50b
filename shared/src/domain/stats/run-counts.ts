import type { Execution } from '../execution/execution.ts';

/** Counts of the runs of one CronJob and one UTC day. `success` and `failed` are the scheduled runs that enter the rate. */
export interface RunCounts {
  readonly success: number;
  readonly failed: number;
  readonly replaced: number;
  readonly deleted: number;
  readonly unobserved: number;
  /** Manual, rerun and unmatched runs, however they ended. */
  readonly manual: number;
}

export type RunCounter = keyof RunCounts;

/**
 * The one counter that a run moves, of the day its Job was created (decisions.md section 4, api.md section 14). Undefined: a
 * scheduled run in a maintenance window that leaves runs out of the SLA.
 */
export function counterOf(run: Pick<Execution, 'status' | 'trigger' | 'inMaintenance'>): RunCounter | undefined {
  if (run.trigger !== 'scheduled') return 'manual';
  if (run.inMaintenance && (run.status === 'success' || run.status === 'failed')) return undefined;
  return run.status;
}

/** The duration that enters the figures of the day: of successful scheduled runs. */
export function countedDurationMs(
  run: Pick<Execution, 'status' | 'trigger' | 'inMaintenance' | 'durationMs'>,
): number | undefined {
  return counterOf(run) === 'success' ? run.durationMs : undefined;
}

/** Scheduled runs that succeeded and failed: all that enters a success rate. */
interface RateCounts {
  readonly success: number;
  readonly failed: number;
}

/** Percent of the runs that succeeded, 0 to 100, not rounded; undefined when there was no run: no data is not 0 and not 100. */
export function successRate({ success, failed }: RateCounts): number | undefined {
  const runs = success + failed;
  return runs === 0 ? undefined : (100 * success) / runs;
}
