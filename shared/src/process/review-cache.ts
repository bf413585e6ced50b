import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import { withinLimit } from './time-limit.ts';

/** What a review of a token says: it may, it is of no user, it may not. */
export type Review = 'allowed' | 'unauthenticated' | 'denied';

/** Asks the cluster; throws when it cannot be asked. */
export type AskForReview = (token: string, signal: AbortSignal) => Promise<Review>;

/** How long an answer about a token, a granted and a denied access hold: so long a right that was taken away is still there. */
export const reviewHoldsMs = { token: 60_000, granted: 300_000, denied: 30_000 } as const;

/** A review has so long. */
const reviewLimitMs = 10_000;
const mostTokens = 1_000;

/** Reviews of the tokens of scrapers. Answers hold under a hash of the token; those of no user too. */
export class ReviewCache {
  readonly #review: AskForReview;
  readonly #kept: KeptAnswers<Review>;
  readonly #asker: ReviewAsker;

  constructor(deps: { readonly review: AskForReview; readonly clock: Clock; readonly logger: Logger }) {
    this.#review = deps.review;
    this.#kept = new KeptAnswers(deps.clock, mostTokens);
    this.#asker = new ReviewAsker(deps, {
      mostUnderWay: Infinity,
      down: 'tokens of scrapers cannot be reviewed: scrapes are refused',
      back: 'tokens of scrapers can be reviewed again',
    });
  }

  /** `unavailable` when no answer comes within 10 s and none is kept: callers are refused. */
  async ask(token: string): Promise<Review | 'unavailable'> {
    const key = hashOf(token);
    const kept = this.#kept.find(key);
    if (kept) return kept.value;
    const review = async (signal: AbortSignal): Promise<Review> => {
      const answer = await this.#review(token, signal);
      const { token: known, granted, denied } = reviewHoldsMs;
      // One answer says both who it is and what they may: it holds no longer than either.
      this.#kept.keep(key, answer, Math.min(known, { allowed: granted, denied, unauthenticated: known }[answer]));
      return answer;
    };
    return this.#asker.ask(key, { review }).catch(() => 'unavailable' as const);
  }
}

/** What is asked is kept and compared as its hash: a memory dump shows no token. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** How an asker is limited, and what it says in the log. */
interface Asking {
  /** More questions at once are refused, so that a flood of tokens costs neither memory nor the cluster. */
  readonly mostUnderWay: number;
  readonly down: string;
  readonly back: string;
}

interface Question<T> {
  readonly review: (signal: AbortSignal) => Promise<T>;
  /** What the log says beside the error. */
  readonly facts?: Readonly<Record<string, unknown>>;
  readonly onFailed?: () => void;
}

/**
 * Asks the cluster each question once at a time, however many wait for its answer, and within 10 s. The log says once when the cluster
 * stops answering, and once when it answers again.
 */
export class ReviewAsker {
  readonly #deps: { readonly clock: Clock; readonly logger: Logger };
  readonly #asking: Asking;
  readonly #underWay = new Map<string, Promise<unknown>>();
  #isDown = false;

  constructor(deps: { readonly clock: Clock; readonly logger: Logger }, asking: Asking) {
    this.#deps = deps;
    this.#asking = asking;
  }

  /** The same key is the same question. Rejects when the cluster cannot be asked; `onFailed` hears of that once for each question. */
  ask<T>(key: string, question: Question<T>): Promise<T> {
    const asked = this.#underWay.get(key) as Promise<T> | undefined; // the same key is the same question
    if (asked) return asked;
    if (this.#underWay.size >= this.#asking.mostUnderWay) {
      question.onFailed?.();
      return Promise.reject(new Error(`${this.#asking.mostUnderWay} reviews are under way`));
    }
    const asking = this.#askWithin(question).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asking);
    return asking;
  }

  async #askWithin<T>({ review, facts, onFailed }: Question<T>): Promise<T> {
    const { clock, logger } = this.#deps;
    try {
      const answer = await withinLimit({ clock, ms: reviewLimitMs }, review);
      if (this.#isDown) logger.info(this.#asking.back);
      this.#isDown = false;
      return answer;
    } catch (error) {
      if (!this.#isDown) logger.warn(this.#asking.down, { ...facts, error });
      this.#isDown = true;
      onFailed?.();
      throw error;
    }
  }
}

/** Answers for as long as they hold; of too many the oldest goes. */
export class KeptAnswers<T> {
  readonly #clock: Clock;
  readonly #most: number;
  readonly #kept = new Map<string, { readonly value: T; readonly untilMs: number }>();

  constructor(clock: Clock, most: number) {
    this.#clock = clock;
    this.#most = most;
  }

  find(key: string): { readonly value: T } | undefined {
    const kept = this.#kept.get(key);
    if (!kept) return undefined;
    if (this.#clock.monotonicMs() < kept.untilMs) return kept;
    this.#kept.delete(key);
    return undefined;
  }

  keep(key: string, value: T, forMs: number): void {
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= this.#most && !oldest.done) this.#kept.delete(oldest.value);
    this.#kept.set(key, { value, untilMs: this.#clock.monotonicMs() + forMs });
  }
}
