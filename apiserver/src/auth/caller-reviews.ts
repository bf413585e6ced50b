import type { AccessQuestion, Cluster, Identity } from '@cronjob-monitor/shared/kube';
import {
  hashOf,
  KeptAnswers,
  ReviewAsker,
  reviewHoldsMs,
  type Clock,
  type Logger,
} from '@cronjob-monitor/shared/process';
import { reviewUnavailable } from '../errors.ts';

type ReviewKind = 'token' | 'access';
type ReviewResult = 'allowed' | 'denied' | 'error' | 'cached';

export interface ReviewDeps {
  readonly cluster: Pick<Cluster, 'reviewToken' | 'reviewAccess'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** `auth.audiences`. */
  readonly audiences: readonly string[];
  /** Hears of every question and how it was answered. */
  readonly count: (kind: ReviewKind, result: ReviewResult) => void;
}

/** TokenReviews and SubjectAccessReviews. Both reject with REVIEW_UNAVAILABLE when the cluster does not answer and no answer is cached. */
export interface Reviews {
  /** Undefined: the token is of no user. */
  identityOf(token: string): Promise<Identity | undefined>;
  isAllowed(identity: Identity, question: AccessQuestion): Promise<boolean>;
}

/** Reviews under way at once; more are refused. */
const mostUnderWay = 100;
const mostTokens = 1_000;
const mostRights = 20_000;

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
  const asker = new ReviewAsker(deps, {
    mostUnderWay,
    down: 'callers cannot be reviewed: those without a kept answer are refused',
    back: 'callers can be reviewed again',
  });
  const ask = <T>(
    kind: ReviewKind,
    key: string,
    { review, isYes }: { review: (signal: AbortSignal) => Promise<T>; isYes: (answer: T) => boolean },
  ): Promise<T> => {
    const counted = async (signal: AbortSignal): Promise<T> => {
      const answer = await review(signal);
      deps.count(kind, isYes(answer) ? 'allowed' : 'denied');
      return answer;
    };
    const onFailed = (): void => deps.count(kind, 'error');
    return asker.ask(key, { review: counted, facts: { kind }, onFailed }).catch((error: unknown) => {
      throw reviewUnavailable(error);
    });
  };

  return {
    async identityOf(token) {
      const key = hashOf(token);
      const kept = good.find(key) ?? invented.find(key);
      if (kept) {
        deps.count('token', 'cached');
        return kept.value;
      }
      const review = async (signal: AbortSignal): Promise<Identity | undefined> => {
        const identity = await cluster.reviewToken(token, signal, deps.audiences);
        if (identity) good.keep(key, identity, reviewHoldsMs.token);
        else invented.keep(key, undefined, reviewHoldsMs.token);
        return identity;
      };
      return ask('token', key, { review, isYes: (identity) => identity !== undefined });
    },
    async isAllowed(identity, question) {
      const key = hashOf(JSON.stringify([identity, question]));
      const kept = granted.find(key) ?? denied.find(key);
      if (kept) {
        deps.count('access', 'cached');
        return kept.value;
      }
      const review = async (signal: AbortSignal): Promise<boolean> => {
        const isYes = await cluster.reviewAccess(identity, question, signal);
        if (isYes) granted.keep(key, true, reviewHoldsMs.granted);
        else denied.keep(key, false, reviewHoldsMs.denied);
        return isYes;
      };
      return ask('access', key, { review, isYes: (answer) => answer });
    },
  };
}
