import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';

/** What a review of a token says: it may, it is of no user, it may not. */
export type Review = 'allowed' | 'unauthenticated' | 'denied';

export interface ReviewCacheDeps {
  /** Asks the cluster; throws when it cannot be asked. */
  readonly review: (token: string, signal: AbortSignal) => Promise<Review>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long an answer about a token, a granted and a denied access hold: so long a right that was taken away is still there. */
export const reviewHoldsMs = { token: 60_000, granted: 300_000, denied: 30_000 } as const;

const reviewLimitMs = 10_000;
const maxKept = 1_000;

interface Kept {
  readonly review: Review;
  readonly untilMs: number;
}

/** Reviews of tokens, kept under a hash of the token for as long as they hold; one at a time for each token. */
export class ReviewCache {
  readonly #deps: ReviewCacheDeps;
  readonly #kept = new Map<string, Kept>();
  readonly #asked = new Map<string, Promise<Review | 'unavailable'>>();
  #isDown = false;

  constructor(deps: ReviewCacheDeps) {
    this.#deps = deps;
  }

  /** `unavailable` when no answer comes within 10 s and none is kept: callers are refused. */
  async ask(token: string): Promise<Review | 'unavailable'> {
    const hash = createHash('sha256').update(token).digest('base64');
    const kept = this.#kept.get(hash);
    if (kept && this.#deps.clock.monotonicMs() < kept.untilMs) return kept.review;
    this.#kept.delete(hash);

    const asked = this.#asked.get(hash) ?? this.#askCluster(hash, token);
    this.#asked.set(hash, asked);
    return asked;
  }

  async #askCluster(hash: string, token: string): Promise<Review | 'unavailable'> {
    const { clock, logger, review } = this.#deps;
    const over = new AbortController();
    const limit = clock.sleep(reviewLimitMs, over.signal).then(() => {
      throw new Error('no answer within 10 s');
    });
    try {
      const answer = await Promise.race([review(token, over.signal), limit]);
      if (this.#isDown) logger.info('tokens of scrapers can be reviewed again');
      this.#isDown = false;
      this.#keep(hash, answer);
      return answer;
    } catch (error) {
      if (!this.#isDown) logger.warn('tokens of scrapers cannot be reviewed: scrapes are refused', { error });
      this.#isDown = true;
      return 'unavailable';
    } finally {
      limit.catch(() => {}); // It ends by the abort below, or has lost the race.
      over.abort();
      this.#asked.delete(hash);
    }
  }

  #keep(hash: string, review: Review): void {
    const { token, granted, denied } = reviewHoldsMs;
    // One answer says both who it is and what they may: it holds no longer than either.
    const forMs = Math.min(token, { allowed: granted, denied, unauthenticated: token }[review]);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= maxKept && !oldest.done) this.#kept.delete(oldest.value);
    this.#kept.set(hash, { review, untilMs: this.#deps.clock.monotonicMs() + forMs });
  }
}
