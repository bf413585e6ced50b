import type { KeyObject } from 'node:crypto';
import { errorStatuses, type ErrorCode, type ErrorDetails } from '@cronjob-monitor/shared/contract';
import type { Clock } from '@cronjob-monitor/shared/process';
import {
  askAction,
  expireAction,
  findAction,
  forgetResult,
  listAgents,
  newId,
  StoreError,
  type Store,
} from '@cronjob-monitor/shared/store';
import { ApiError, mayNotAskThere, tooMuchToAsk } from '../errors.ts';
import type { Caller } from '../auth/authentication.ts';
import type { AskedAnswer, AskedCall, Elsewhere } from '../routes/index.ts';
import { isSealed, openResult, sealOf } from './seal.ts';

/** An action that no agent has taken by then is not done. */
const longestMs = 15_000;
/** An action that an agent took gets this time on top: a channel test waits for its outcome. */
const moreOnceTakenMs = 2_000;
const lookEveryMs = 50;
/** Bytes of an action with its caller: enough for every request of the API except bodies with hundreds of long names. */
const mostBytes = 256 * 1024;

/** What an agent answers, as the text of a result. */
export type AgentAnswer =
  | AskedAnswer
  | { readonly code: ErrorCode; readonly message: string; readonly details: ErrorDetails | undefined };

/** Has the service of another cluster act for callers here, by a row in the schema of that cluster. */
export function createElsewhere(deps: {
  /** Of the other cluster. */
  readonly store: Store;
  readonly schema: string;
  /** Name that the other cluster has given itself, and our own. */
  readonly target: string;
  readonly home: string;
  readonly key: KeyObject;
  readonly clock: Clock;
}): Elsewhere {
  const { store, schema, target, home, key, clock } = deps;

  const isTaken = async (): Promise<boolean> => {
    try {
      return (await listAgents(store)).some((agent) => isSealed(key, target, agent));
    } catch (error) {
      if (error instanceof StoreError) return false; // an older schema, or one that the account does not read
      throw error;
    }
  };

  /** Writes the row. Throws READ_ONLY where the account may not. */
  const write = async ({ id: kind, ...call }: AskedCall, caller: Caller, mostMs: number): Promise<string> => {
    const { name: user = null, groups = [] } = caller.user ?? {};
    const { namespace, name } = objectOf(call.path);
    const args = JSON.stringify(call);
    const askedBy = JSON.stringify({ user, groups, cluster: home });
    if (Buffer.byteLength(args) + Buffer.byteLength(askedBy) > mostBytes) throw tooMuchToAsk(target, mostBytes);
    const expiresAt = store.now() + mostMs;
    const action = { id: newId(store.now()), kind, namespace, name, args, askedBy, expiresAt };
    const isWritten = await askAction(store, { ...action, mac: sealOf(key, target, action) }).catch(
      (error: unknown) => {
        throw error instanceof StoreError && error.code === 'refused' ? mayNotAskThere(target, schema) : error;
      },
    );
    if (!isWritten) throw silent(target, 'too many actions wait there already. Nothing was done');
    return action.id;
  };

  /** Undefined: not yet. */
  const findAnswer = async (id: string): Promise<AskedAnswer | undefined> => {
    const { state, result } = (await findAction(store, id)) ?? {};
    if (state === 'expired') throw silent(target, 'no API server of it took the action in time. Nothing was done');
    if (state !== 'done' && state !== 'refused') return undefined;
    await forgetResult(store, id).catch(() => {}); // it goes with its row then
    const answer = openResult(key, id, result ?? '') as AgentAnswer | undefined;
    if (!answer)
      throw silent(target, 'its answer is not one of an API server with our key. What was done is not known');
    if ('body' in answer) return answer;
    const code = Object.hasOwn(errorStatuses, answer.code) ? answer.code : 'INTERNAL_ERROR';
    throw new ApiError(code, answer.message, answer.details && { details: answer.details });
  };

  return {
    isTaken,
    async ask(call, caller, mostMs = longestMs) {
      if (!(await isTaken())) {
        throw silent(target, 'no API server of it with our key is there. Nothing was done');
      }
      const id = await write(call, caller, mostMs);
      const askedMs = clock.monotonicMs();
      for (let endMs = askedMs + mostMs; clock.monotonicMs() < endMs;) {
        await clock.sleep(lookEveryMs);
        const answer = await findAnswer(id);
        if (answer) return answer;
        if (clock.monotonicMs() >= endMs && !(await expireAction(store, id)))
          endMs = askedMs + mostMs + moreOnceTakenMs;
      }
      const late = await findAnswer(id);
      if (late) return late;
      throw silent(
        target,
        'an API server of it took the action and has not answered. It may have been done: look there',
      );
    },
  };
}

/** The CronJob that the path names, for readers of the table. */
function objectOf(path: string): { readonly namespace: string; readonly name: string } {
  const [, namespace = '', name = ''] =
    /^\/api\/v1\/cronjobs\/([a-z0-9-]{1,63})\/([a-z0-9.-]{1,253})\//.exec(path) ?? [];
  return { namespace, name };
}

function silent(target: string, why: string): ApiError {
  return new ApiError('CLUSTER_SILENT', `The cluster ${target} gave no answer: ${why}`);
}
