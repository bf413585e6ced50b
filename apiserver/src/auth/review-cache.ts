import { createHash } from 'node:crypto';
import type { AccessQuestion, Cluster, Identity } from '@cronjob-monitor/shared/kube';
import { reviewHoldsMs, type Clock, type Logger } from '@cronjob-monitor/shared/process';
import { reviewUnavailable } from '../errors.ts';

export type ReviewKind = 'token' | 'access';
export type ReviewResult = 'allowed' | 'denied' | 'error' | 'cached';

export interface ReviewDeps {
  readonly cluster: Pick<Cluster, 'reviewToken' | 'reviewAccess'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `auth.audiences`. */
  readonly audiences: readonly string[];
  /** Hears of every question and how it was answered. */
  readonly count: (kind: ReviewKind, result: ReviewResult) => void;
}

/** What the cluster says of tokens and rights. Both reject with REVIEW_UNAVAILABLE when it cannot be asked and nothing is kept. */
export interface Reviews {
  /** Undefined: the token is of no user. */
  identityOf(token: string): Promise<Identity | undefined>;
  isAllowed(identity: Identity, question: AccessQuestion): Promise<boolean>;
}

/** A review has so long. */
const reviewLimitMs = 10_000;
/** Reviews under way at once; more are refused, so that a flood of tokens costs neither memory nor the cluster. */
const mostUnderWay = 100;
const mostTokens = 1_000;
const mostRights = 20_000;

interface Answer<T> {
  readonly value: T;
  readonly isYes: boolean;
}

/**
 * Answers are kept under a hash of what was asked, bounded, and asked once however many wait for them. Tokens of no user are
 * kept apart from good ones: invented tokens drive out only invented ones.
 */
export function createReviews(deps: ReviewDeps): Reviews {
  const { cluster } = deps;
  const good = new KeptAnswers<Identity>(deps.clock, mostTokens);
  const invented = new KeptAnswers<undefined>(deps.clock, mostTokens);
  const granted = new KeptAnswers<boolean>(deps.clock, mostRights);
  const denied = new KeptAnswers<boolean>(deps.clock, mostRights);
  const asker = new Asker(deps);

  return {
    async identityOf(token) {
      const key = hash(token);
      const kept = good.find(key) ?? invented.find(key);
      if (kept) {
        deps.count('token', 'cached');
        return kept.value;
      }
      return asker.ask('token', key, async (signal) => {
        const identity = await cluster.reviewToken(token, signal, deps.audiences);
        if (identity) good.keep(key, identity, reviewHoldsMs.token);
        else invented.keep(key, undefined, reviewHoldsMs.token);
        return { value: identity, isYes: identity !== undefined };
      });
    },
    async isAllowed(identity, question) {
      const key = hash(JSON.stringify([identity, question]));
      const kept = granted.find(key) ?? denied.find(key);
      if (kept) {
        deps.count('access', 'cached');
        return kept.value;
      }
      return asker.ask('access', key, async (signal) => {
        const isYes = await cluster.reviewAccess(identity, question, signal);
        if (isYes) granted.keep(key, true, reviewHoldsMs.granted);
        else denied.keep(key, false, reviewHoldsMs.denied);
        return { value: isYes, isYes };
      });
    },
  };
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

/** Asks the cluster, each question once at a time and within its limit, and refuses when it gets no answer. */
class Asker {
  readonly #deps: Pick<ReviewDeps, 'clock' | 'logger' | 'count'>;
  readonly #underWay = new Map<string, Promise<unknown>>();
  #isDown = false;

  constructor(deps: Pick<ReviewDeps, 'clock' | 'logger' | 'count'>) {
    this.#deps = deps;
  }

  /** The same key is the same question. */
  ask<T>(kind: ReviewKind, key: string, review: (signal: AbortSignal) => Promise<Answer<T>>): Promise<T> {
    const asked = this.#underWay.get(key) as Promise<T> | undefined; // keys of tokens and of rights are hashes of different texts
    if (asked) return asked;
    if (this.#underWay.size >= mostUnderWay) {
      this.#deps.count(kind, 'error');
      return Promise.reject(reviewUnavailable());
    }
    const asking = this.#askWithin(kind, review).finally(() => this.#underWay.delete(key));
    this.#underWay.set(key, asking);
    return asking;
  }

  async #askWithin<T>(kind: ReviewKind, review: (signal: AbortSignal) => Promise<Answer<T>>): Promise<T> {
    const { clock, logger, count } = this.#deps;
    const over = new AbortController();
    const limit = clock.sleep(reviewLimitMs, over.signal).then(() => {
      throw new Error('no answer within 10 s');
    });
    try {
      const { value, isYes } = await Promise.race([review(over.signal), limit]);
      if (this.#isDown) logger.info('callers can be reviewed again');
      this.#isDown = false;
      count(kind, isYes ? 'allowed' : 'denied');
      return value;
    } catch (error) {
      if (!this.#isDown)
        logger.warn('callers cannot be reviewed: those without a kept answer are refused', { kind, error });
      this.#isDown = true;
      count(kind, 'error');
      throw reviewUnavailable(error);
    } finally {
      limit.catch(() => {}); // it ends by the abort below, or has lost the race
      over.abort();
    }
  }
}

/** Answers for as long as they hold; of too many the oldest goes. */
class KeptAnswers<T> {
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
