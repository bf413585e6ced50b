/** Chance from a seed (mulberry32): the same seed makes the same choices. */
export function randomOf(seed: number): {
  readonly fraction: () => number;
  readonly whole: (least: number, most: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly one: <T>(of: readonly T[]) => T;
} {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const whole = (least: number, most: number): number =>
    least + Math.floor(fraction() * (Math.floor(most) - least + 1));
  return {
    fraction,
    whole,
    chance: (probability) => fraction() < probability,
    one: (of) => {
      const found = of[whole(0, of.length - 1)];
      if (found === undefined && of.length === 0) throw new RangeError('there is nothing to choose from');
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the index is within bounds
      return found as (typeof of)[number];
    },
  };
}
