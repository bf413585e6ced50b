import type { Instant } from '../instant.ts';

/** So long after it was deleted a monitor of the same namespace and name counts as the same one. */
export const madeAnewWithinMs = 600_000;

/**
 * Whether a monitor goes on with what another object of its namespace and name has left. `goneAt`: when that was deleted; undefined: the
 * service did not see it go, so that it may have gone a moment before. A watch that goes on tells of a run without need rather than not at all,
 * and of what is told already not once more.
 */
export function isMadeAnew(createdAt: Instant, goneAt: Instant | undefined): boolean {
  return goneAt === undefined || createdAt - goneAt <= madeAnewWithinMs;
}
