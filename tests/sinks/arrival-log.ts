import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';

/**
 * What arrived at a receiver, in order. With a path each arrival is a line of a file that is on disk before the receiver answers:
 * what a sender was told to have arrived is there after any crash. It is only ever appended to.
 */
export class ArrivalLog<Arrival> {
  readonly #arrivals: Arrival[] = [];
  readonly #file: number | undefined;
  readonly #waiting = new Set<() => void>();

  /** `path` undefined: in memory alone. A file that exists is continued, its arrivals are not read. */
  constructor(path?: string) {
    this.#file = path === undefined ? undefined : openSync(path, 'a');
  }

  /** Those since this log was opened. */
  get arrivals(): readonly Arrival[] {
    return this.#arrivals;
  }

  append(arrival: Arrival): void {
    if (this.#file !== undefined) {
      writeSync(this.#file, `${JSON.stringify(arrival)}\n`);
      fsyncSync(this.#file);
    }
    this.#arrivals.push(arrival);
    for (const look of this.#waiting) look();
  }

  /** Resolves as soon as so many have arrived; rejects when it takes longer. */
  async atLeast(count: number, withinMs = 10_000): Promise<readonly Arrival[]> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (): void => {
      if (this.#arrivals.length >= count) resolve();
    };
    const limit = setTimeout(() => {
      reject(new Error(`${this.#arrivals.length} of ${count} messages arrived within ${withinMs} ms`));
    }, withinMs);
    this.#waiting.add(look);
    look();
    try {
      await promise;
    } finally {
      clearTimeout(limit);
      this.#waiting.delete(look);
    }
    return this.#arrivals;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
  }
}

/** All arrivals of a file, whatever process wrote them. A last line that is not whole was never answered, and is left out. */
export function readArrivals<Arrival>(path: string): Arrival[] {
  const lines = readFileSync(path, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Arrival); // written by `append`
}
