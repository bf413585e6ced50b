/**
 * An instant: epoch milliseconds, UTC. A plain number and not a `Date`, since caches hold hundreds of thousands of them
 * and every database stores them as bigint. Fields that hold one end in `At`.
 */
export type Instant = number;

/** The first of those that are known; undefined: none is. */
export function earliest(...instants: readonly (Instant | undefined)[]): Instant | undefined {
  const known = instants.filter((at) => at !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
