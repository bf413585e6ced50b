import type { User } from './api-request.ts';
import { ApiError } from './api-error.ts';

/** How many requests a server works on at once. */
export interface PlaceLimits {
  readonly reads: number;
  readonly writes: number;
}

/** What a real server allows by default. */
const usualPlaces: PlaceLimits = { reads: 400, writes: 200 };

/** The places of requests that are worked on. Watches and logs take none; administrators are let in beyond the limit. */
export class Places {
  readonly #limits: PlaceLimits;
  #reads = 0;
  #writes = 0;

  constructor(limits: PlaceLimits = usualPlaces) {
    this.#limits = limits;
  }

  /** Takes a place and returns how to give it back. Throws 429 when there is none. */
  enter(method: string, user: User): () => void {
    const reading = method === 'GET' || method === 'HEAD';
    const full = reading ? this.#reads >= this.#limits.reads : this.#writes >= this.#limits.writes;
    if (full && !user.groups.includes('system:masters')) {
      throw new ApiError(429, 'Too many requests, please try again later.\n', { 'retry-after': '1' });
    }
    this.#count(reading, 1);
    return () => this.#count(reading, -1);
  }

  #count(reading: boolean, change: number): void {
    if (reading) this.#reads += change;
    else this.#writes += change;
  }
}
