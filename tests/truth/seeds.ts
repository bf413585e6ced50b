/** SEED=n plays that seed alone; with TRUTH_MINUTES besides it is where the new ones begin. */
const given = process.env['SEED'];
const minutes = process.env['TRUTH_MINUTES'];

/** Each day begins with seeds of its own. */
export const firstSeed = Number(given ?? Math.floor(Date.now() / 86_400_000) * 1_000);

/**
 * The seeds that once failed, then new ones for TRUTH_MINUTES, at least one. `share`: the part of that time which is for these, where
 * several databases share it.
 */
export function* seeds(kept: readonly number[] = [], { defaultMinutes = 0.3, share = 1 } = {}): Generator<number> {
  if (given !== undefined && minutes === undefined) {
    yield firstSeed;
    return;
  }
  yield* kept;
  const endAt = Date.now() + Number(minutes ?? defaultMinutes) * share * 60_000;
  let seed = firstSeed;
  do yield seed++;
  while (Date.now() < endAt);
}
