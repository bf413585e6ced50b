import type { Instant } from '../instant.ts';

/** So long after it was deleted a monitor of the same namespace and name counts as the same one. */
export const madeAnewWithinMs = 600_000;

/**
 * Whether a monitor goes on with what another object of its namespace and name has left. `goneAt`: when that was deleted; where the
 * service did not see it go, when it was last known to be there.
 */
export function isMadeAnew(createdAt: Instant, goneAt: Instant): boolean {
  return createdAt - goneAt <= madeAnewWithinMs;
}
