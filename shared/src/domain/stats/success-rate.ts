/** Scheduled runs that succeeded and failed: all that enters a success rate. */
export interface RateCounts {
  readonly success: number;
  readonly failed: number;
}

/** Percent of the runs that succeeded, 0 to 100, not rounded; undefined when there was no run: no data is not 0 and not 100. */
export function successRate({ success, failed }: RateCounts): number | undefined {
  const runs = success + failed;
  return runs === 0 ? undefined : (100 * success) / runs;
}
