/** Chance from one seed: the same seed makes the same history and the same disturbances. */
export class Random {
  #state: number;

  /** `stream`: seeds of one trial that share nothing. */
  constructor(seed: number, stream = 0) {
    this.#state = (Math.imul(seed, 2_654_435_761) + Math.imul(stream, 0x85ebca6b) + 0x9e3779b9) >>> 0;
  }

  /** Uniform in [0, 1): the generator mulberry32. */
  fraction(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number in [from, to]. */
  whole(from: number, to: number): number {
    return from + Math.floor(this.fraction() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  pick<T>(of: readonly T[]): T {
    const picked = of[Math.floor(this.fraction() * of.length)];
    if (picked === undefined && of.length === 0) throw new RangeError('nothing can be picked from an empty list');
    return picked as T; // the index is within the list
  }

  uuid(): string {
    const hex = (digits: number): string =>
      Array.from({ length: digits }, () => this.whole(0, 15).toString(16)).join('');
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
  }
}
