/** One run as a mark of the chart. */
export interface DurationPoint {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly seconds: number;
  readonly isFailed: boolean;
  /** Of a scheduled run: only these count for p50 and p95. */
  readonly counts: boolean;
}

/** p50 and p95 of a UTC day's successful runs. */
export interface DailyFigure {
  /** Noon of the day, where its figure is drawn. */
  readonly at: number;
  readonly p50: number;
  readonly p95: number;
}

const dayMs = 86_400_000;

/** Fewer runs have no percentile. */
export const leastRuns = 5;

/** By UTC day, oldest first; a day of few successes has no figure. */
export function dailyFigures(points: readonly DurationPoint[]): DailyFigure[] {
  const byDay = Map.groupBy(
    points.filter(({ isFailed, counts }) => !isFailed && counts),
    ({ at }) => Math.floor(at / dayMs),
  );
  return [...byDay]
    .filter(([, runs]) => runs.length >= leastRuns)
    .sort(([a], [b]) => a - b)
    .map(([day, runs]) => {
      const sorted = runs.map(({ seconds }) => seconds).sort((a, b) => a - b);
      return { at: day * dayMs + dayMs / 2, p50: nearestRank(sorted, 50), p95: nearestRank(sorted, 95) };
    });
}

/** The smallest value that at least so many percent of all do not exceed. */
export function nearestRank(sorted: readonly number[], percent: number): number {
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}

/** One very long run among short ones leaves the short ones flat: beyond this they are told apart on a logarithmic scale only. */
const logBeyond = 50;

export function needsLogScale(points: readonly DurationPoint[]): boolean {
  const sorted = points.map(({ seconds }) => seconds).sort((a, b) => a - b);
  const median = nearestRank(sorted, 50);
  return median > 0 && (sorted.at(-1) ?? 0) / median > logBeyond;
}
