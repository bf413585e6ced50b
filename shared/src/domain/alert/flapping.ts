import type { Instant } from '../instant.ts';

const windowMs = 60 * 60_000;
const mostChanges = 4;

/** The last instants at which an identity became active or closed; at most as many as decide. */
export type Flips = readonly Instant[];

/** One change more. What is older than an hour is forgotten. */
export function addFlip(flips: Flips, at: Instant): Flips {
  return [...flips.filter((flip) => flip > at - windowMs), at].slice(-mostChanges);
}

/** Four changes within an hour: from then on each of them is not told. */
export function isFlapping(flips: Flips, now: Instant): boolean {
  return flips.length >= mostChanges && (flips.at(-mostChanges) ?? -Infinity) > now - windowMs;
}

/** An hour without a change ends it; undefined when there never was one. */
export function flappingUntil(flips: Flips): Instant | undefined {
  const last = flips.at(-1);
  return last === undefined ? undefined : last + windowMs;
}

/** When the last change was, of what flaps until then. */
export function lastFlipAt(untilAt: Instant): Instant {
  return untilAt - windowMs;
}
