/**
 * Nearest rank: of n values in rising order the one at position ceil(p x n), counting from 1 (storage.md section 6). Nothing
 * is interpolated, so the answer is always a value that occurred. `p` in (0, 1]; undefined without values.
 */
export function nearestRank(rising: readonly number[], p: number): number | undefined {
  return rising[rankOf(rising.length, p) - 1];
}

/** The position of a percentile among n values, from 1 to n; 0 when there are none. */
export function rankOf(n: number, p: number): number {
  // The product may be a hair above a whole number, as 0.95 x 20 would be in other bases: that must not cost a rank.
  return Math.min(n, Math.max(n === 0 ? 0 : 1, Math.ceil(p * n - 1e-9)));
}
