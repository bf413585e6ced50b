import type { KeyObject } from 'node:crypto';
import { errorStatuses, type ErrorCode, type ErrorDetails } from '@cronjob-monitor/shared/contract';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  askAction,
  expireAction,
  findAction,
  listAgents,
  newId,
  StoreError,
  type Store,
} from '@cronjob-monitor/shared/store';
import { ApiError, onlyReadHere } from '../errors.ts';
import type { ActResult, ActWish, Elsewhere } from '../routes/index.ts';
import { isSealed, openResult, sealOf } from './seal.ts';

/** An action that no agent has taken by then is not done. */
const longestMs = 15_000;
const lookEveryMs = 100;

/** What an agent answers, as the text of a result. */
export type AgentAnswer =
  | { readonly body: unknown }
  | { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails | undefined };

/** Has the service of another cluster act for callers here, by a row in the schema of that cluster. */
export function createElsewhere(deps: {
  /** Of the other cluster. */
  readonly store: Store;
  /** Name that the other cluster has given itself, and our own. */
  readonly target: string;
  readonly home: string;
  readonly key: KeyObject;
  readonly clock: Clock;
}): Elsewhere {
  const { store, target, home, key, clock } = deps;

  const isTaken = async (): Promise<boolean> => {
    try {
      return (await listAgents(store)).some((agent) => isSealed(key, target, agent));
    } catch (error) {
      if (error instanceof StoreError) return false; // an older schema, or one that the account does not read
      throw error;
    }
  };

  /** Writes the row. Throws READ_ONLY where the account may not. */
  const ask = async ({ kind, namespace, name, force = false, caller }: ActWish): Promise<string> => {
    const { name: user = null, groups = [] } = caller?.user ?? {};
    const action = {
      id: newId(store.now()),
      kind,
      namespace,
      name,
      args: JSON.stringify({ force }),
      askedBy: JSON.stringify({ user, groups, cluster: home }),
      expiresAt: store.now() + longestMs,
    };
    await askAction(store, { ...action, mac: sealOf(key, target, action) }).catch((error: unknown) => {
      throw error instanceof StoreError && error.code === 'refused' ? onlyReadHere(target) : error;
    });
    return action.id;
  };

  const findAnswer = async (id: string): Promise<ActResult | undefined> => {
    const { state, result } = (await findAction(store, id)) ?? {};
    if (state === 'expired') throw silent(target, 'no API server of it took the action in time. Nothing was done');
    if (state !== 'done' && state !== 'refused') return undefined;
    const answer = openResult(key, id, result ?? '') as AgentAnswer | undefined;
    if (!answer)
      throw silent(target, 'its answer is not one of an API server with our key. What was done is not known');
    if ('body' in answer) return answer.body as ActResult;
    const code = Object.hasOwn(errorStatuses, answer.code) ? answer.code : 'INTERNAL_ERROR';
    throw new ApiError(code, answer.message, answer.details && { details: answer.details });
  };

  return {
    isTaken,
    async act(wish) {
      if (!(await isTaken())) {
        throw silent(target, 'no API server of it with our key is there. Nothing was done');
      }
      const id = await ask(wish);
      const endMs = clock.monotonicMs() + longestMs;
      while (clock.monotonicMs() < endMs) {
        await clock.sleep(lookEveryMs);
        const answer = await findAnswer(id);
        if (answer) return answer;
      }
      await expireAction(store, id);
      const late = await findAnswer(id);
      if (late) return late;
      throw silent(
        target,
        'an API server of it took the action and has not answered. It may have been done: look there',
      );
    },
  };
}

function silent(target: string, why: string): ApiError {
  return new ApiError('CLUSTER_SILENT', `The cluster ${target} gave no answer: ${why}`);
}
