/**
 * An instant: epoch milliseconds, UTC. A plain number and not a `Date`, since caches hold hundreds of thousands of them
 * and every database stores them as bigint. Fields that hold one end in `At`.
 */
export type Instant = number;
