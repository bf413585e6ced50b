import { abilities, actingAbilities, errorStatuses, type Ability } from '@cronjob-monitor/shared/contract';
import { hashOf, KeptAnswers, reviewHoldsMs, type Clock } from '@cronjob-monitor/shared/process';
import type { Authentication, Caller } from '../auth/authentication.ts';
import type { Place } from '../auth/permission.ts';
import { ApiError, internalError } from '../errors.ts';
import type { Elsewhere } from '../routes/index.ts';

/** Name of the action by which the service of a cluster is asked what a user may do there. Its body is a list of rights, its answer one of yes and no. */
export const reviewKind = 'review';

/** One right to review. `namespace` null: all namespaces. */
interface AskedRight {
  readonly ability: Ability;
  readonly namespace: string | null;
}

/** A review may take this long; the first one takes up to a second. */
const patienceMs = 3_000;
/** A cluster that gave no answer is asked no more for so long. */
const pauseAfterErrorMs = 5_000;
/** A cached read right is valid for this long while its cluster does not answer. */
const lastsMs = 24 * 3_600_000;
const mostKept = 20_000;
/** Rights of one action: some 50 KiB. */
const mostAtOnce = 500;
/** Reviews of one action that an agent has under way at once. */
const atOnce = 10;

interface Batch {
  readonly caller: Caller;
  readonly rights: { readonly right: AskedRight; readonly answered: PromiseWithResolvers<boolean> }[];
}

const acting: ReadonlySet<Ability> = new Set(actingAbilities);

/**
 * What callers may do in another cluster, by its own rights: its service is asked, what one request wants to know in one action. Grants are
 * kept for 5 min and refusals for 30 s, as those of the own cluster.
 */
export class RightsElsewhere {
  readonly #elsewhere: Elsewhere;
  readonly #clock: Clock;
  readonly #granted: KeptAnswers<true>;
  readonly #denied: KeptAnswers<false>;
  /** What was said last of rights to read, and when. */
  readonly #lasting: KeptAnswers<{ readonly isYes: boolean; readonly at: number }>;
  readonly #underWay = new Map<string, Promise<boolean>>();
  readonly #batches = new Map<string, Batch>();
  readonly #servedAsOf = new WeakMap<Caller, number>();
  #silence: { readonly untilMs: number; readonly error: ApiError } | undefined;

  constructor(elsewhere: Elsewhere, clock: Clock) {
    this.#elsewhere = elsewhere;
    this.#clock = clock;
    this.#granted = new KeptAnswers(clock, mostKept);
    this.#denied = new KeptAnswers(clock, mostKept);
    this.#lasting = new KeptAnswers(clock, mostKept);
  }

  /** Throws CLUSTER_SILENT when that cluster gives no answer and nothing is kept that serves meanwhile. */
  async may(caller: Caller, ability: Ability, place: Place): Promise<boolean> {
    const { namespace = null } = place;
    const of = hashOf(JSON.stringify(caller.user ?? null));
    const key = hashOf(JSON.stringify([of, ability, namespace]));
    const kept = this.#granted.find(key) ?? this.#denied.find(key);
    if (kept) return kept.value;
    try {
      const answer = this.#underWay.get(key) ?? this.#begin(of, key, caller, { ability, namespace });
      return await answer;
    } catch (error) {
      const lasting = acting.has(ability) ? undefined : this.#lasting.find(key);
      if (!lasting) throw error;
      const { isYes, at } = lasting.value;
      this.#servedAsOf.set(caller, Math.min(at, this.#servedAsOf.get(caller) ?? Infinity));
      return isYes;
    }
  }

  /** When that was said by which this caller is served while the cluster is silent; undefined: it is not. Milliseconds since 1970. */
  servedAsOf(caller: Caller): number | undefined {
    return this.#servedAsOf.get(caller);
  }

  #begin(of: string, key: string, caller: Caller, right: AskedRight): Promise<boolean> {
    const asked = this.#ask(of, caller, right).then((isYes) => {
      if (isYes) this.#granted.keep(key, true, reviewHoldsMs.granted);
      else this.#denied.keep(key, false, reviewHoldsMs.denied);
      if (!acting.has(right.ability)) this.#lasting.keep(key, { isYes, at: this.#clock.now() }, lastsMs);
      return isYes;
    });
    this.#underWay.set(key, asked);
    return asked.finally(() => this.#underWay.delete(key));
  }

  /** Joins what the same caller asks in the same turn. */
  #ask(of: string, caller: Caller, right: AskedRight): Promise<boolean> {
    const answered = Promise.withResolvers<boolean>();
    const batch = this.#batches.get(of) ?? { caller, rights: [] };
    batch.rights.push({ right, answered });
    if (!this.#batches.has(of)) {
      this.#batches.set(of, batch);
      setImmediate(() => {
        this.#batches.delete(of);
        for (let at = 0; at < batch.rights.length; at += mostAtOnce)
          void this.#review({ caller, rights: batch.rights.slice(at, at + mostAtOnce) });
      });
    }
    return answered.promise;
  }

  async #review({ caller, rights }: Batch): Promise<void> {
    try {
      const answers = await this.#answersTo(
        rights.map(({ right }) => right),
        caller,
      );
      for (const [index, { answered }] of rights.entries()) answered.resolve(answers[index] === true);
    } catch (error) {
      for (const { answered } of rights) answered.reject(error);
    }
  }

  async #answersTo(rights: readonly AskedRight[], caller: Caller): Promise<readonly unknown[]> {
    const nowMs = this.#clock.monotonicMs();
    if (this.#silence && nowMs < this.#silence.untilMs) throw this.#silence.error;
    const call = { id: reviewKind, method: 'GET', path: '', query: '', body: JSON.stringify(rights) };
    try {
      const { body } = await this.#elsewhere.ask(call, caller, patienceMs);
      this.#silence = undefined;
      return body as readonly unknown[];
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // Its cluster gives the caller no rights at all.
      if (errorStatuses[error.code] < 500) return [];
      this.#silence = { untilMs: this.#clock.monotonicMs() + pauseAfterErrorMs, error };
      throw error;
    }
  }
}

/** Answers a review for a caller of another cluster. Throws what the review of a right throws. */
export async function answerReview(
  authentication: Pick<Authentication, 'may'>,
  caller: Caller,
  body: string | null,
): Promise<boolean[]> {
  const rights = readRights(body);
  const answers: boolean[] = [];
  for (let at = 0; at < rights.length; at += atOnce) {
    const some = rights.slice(at, at + atOnce);
    answers.push(
      ...(await Promise.all(
        some.map(({ ability, namespace }) => authentication.may(caller, ability, placeOf(namespace))),
      )),
    );
  }
  return answers;
}

function placeOf(namespace: string | null): Place {
  return namespace === null ? {} : { namespace };
}

const known: ReadonlySet<unknown> = new Set(abilities);

function readRights(body: string | null): readonly AskedRight[] {
  const rights: unknown = JSON.parse(body ?? 'null');
  const isRight = (one: Partial<AskedRight> | null): boolean =>
    known.has(one?.ability) && (one?.namespace === null || typeof one?.namespace === 'string');
  if (!Array.isArray(rights) || rights.length > mostAtOnce || !rights.every(isRight))
    throw internalError(new Error('a review of rights is not a list of them'));
  return rights as AskedRight[];
}
