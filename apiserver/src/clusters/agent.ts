import { randomUUID, type KeyObject } from 'node:crypto';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import {
  claimAction,
  endAction,
  expireAction,
  listAskedActions,
  presentAgent,
  StoreError,
  type AskedAction,
} from '@cronjob-monitor/shared/store';
import type { Caller } from '../auth/authentication.ts';
import { isUnsafe } from '../context.ts';
import { ApiError, internalError } from '../errors.ts';
import { describe, type Translation } from '../middleware/error-boundary.ts';
import { toLogText } from '../middleware/request-log.ts';
import type { AskedCall, RouteDeps } from '../routes/index.ts';
import type { AnswerAsked } from './asked-calls.ts';
import type { AgentAnswer } from './elsewhere.ts';
import { answerReview, reviewKind } from './rights-elsewhere.ts';
import { isSealed, sealOf, sealResult } from './seal.ts';

/** Between two looks for actions; a shorter one for some minutes after one came. */
const lookEveryMs = 1_000;
const briskMs = 250;
const briskForMs = 600_000;
/** Actions that are done side by side. */
const atOnce = 16;
/** The agent beats this often, and counts as present for this long after a beat. */
const presentEveryMs = 20_000;
const believedMs = 60_000;

/** The caller, as the other cluster wrote it. */
interface AskedBy {
  readonly user: string | null;
  readonly groups: readonly string[];
  readonly cluster: string;
}

/**
 * Does in the own cluster what services of other clusters ask for: what their key has sealed, for this cluster, and what the own cluster lets
 * that user do. An action is claimed by one agent and never taken from it: one that dies in the middle leaves the row as claimed.
 */
export class Agent {
  readonly #id = randomUUID();
  readonly #deps: RouteDeps;
  readonly #key: KeyObject;
  /** `cluster.name`. */
  readonly #name: string;
  readonly #answerAsked: AnswerAsked;
  readonly #translate: Translation;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #underWay = new Set<Promise<void>>();
  #presentedAtMs = -Infinity;
  #briskUntilMs = -Infinity;

  constructor(
    home: RouteDeps,
    deps: {
      readonly key: KeyObject;
      readonly name: string;
      readonly answerAsked: AnswerAsked;
      readonly translate: Translation;
    },
  ) {
    this.#deps = home;
    this.#key = deps.key;
    this.#name = deps.name;
    this.#answerAsked = deps.answerAsked;
    this.#translate = deps.translate;
    this.#clock = home.clock;
    this.#logger = home.logger;
  }

  /** Works until aborted, ends what is under way, and says that it is gone. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#look().catch((error: unknown) => {
        // A database that is away, or not migrated yet: readiness and health tell of it.
        if (!(error instanceof StoreError)) this.#logger.error('Looking for actions failed', describe(error));
      });
      const waitMs = this.#clock.monotonicMs() < this.#briskUntilMs ? briskMs : lookEveryMs;
      await this.#clock.sleep(waitMs, signal).catch(() => {}); // aborted: the loop ends
    }
    await Promise.all(this.#underWay);
    // Tells callers at once that the agent takes no more actions. Where the row cannot be written they wait as for a killed agent.
    await this.#present(0).catch(() => {});
  }

  async #look(): Promise<void> {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#presentedAtMs >= presentEveryMs) {
      await this.#present(believedMs);
      this.#presentedAtMs = nowMs;
    }
    const free = atOnce - this.#underWay.size;
    for (const action of free > 0 ? await listAskedActions(this.#deps.store, free) : []) {
      this.#briskUntilMs = nowMs + briskForMs;
      const taken = this.#take(action)
        .catch((error: unknown) => this.#logger.error('An action failed', { action: action.id, ...describe(error) }))
        .finally(() => this.#underWay.delete(taken));
      this.#underWay.add(taken);
    }
  }

  async #present(forMs: number): Promise<void> {
    const { store } = this.#deps;
    const nothing = { kind: 'agent', namespace: '', name: '', args: '', askedBy: '' };
    const agent = { id: this.#id, ...nothing, expiresAt: store.now() + forMs };
    await presentAgent(store, { ...agent, mac: sealOf(this.#key, this.#name, agent) });
  }

  async #take(action: AskedAction): Promise<void> {
    const { store } = this.#deps;
    const { id, expiresAt } = action;
    if (expiresAt <= store.now()) return void (await expireAction(store, id));
    if (!(await claimAction(store, id, this.#id))) return;
    const answer = await this.#answer(action);
    const state = 'body' in answer ? 'done' : 'refused';
    await endAction(store, {
      id,
      claimedBy: this.#id,
      state,
      result: sealResult(this.#key, id, JSON.stringify(answer)),
    });
  }

  async #answer(action: AskedAction): Promise<AgentAnswer> {
    const { id, kind } = action;
    if (!isSealed(this.#key, this.#name, action)) {
      this.#logger.warn('An action was refused that no service with our key asked of this cluster', { action: id });
      const message = `The action is not one that a service with the key of ${this.#name} asked of it; nothing was done`;
      return { code: 'FORBIDDEN', message, details: undefined };
    }
    const call = { id: kind, ...(JSON.parse(action.args) as Omit<AskedCall, 'id'>) };
    const askedBy = JSON.parse(action.askedBy) as AskedBy;
    let answer: AgentAnswer;
    let comment: string | undefined;
    const told = (text: string): void => void (comment = toLogText(text));
    try {
      const caller = this.#callerOf(askedBy);
      answer =
        kind === reviewKind
          ? { status: 200, body: await answerReview(this.#deps.authentication, caller, call.body) }
          : await this.#answerAsked({ call, caller, id, told });
    } catch (error) {
      const { code, message, details } = this.#refusalOf(error, id);
      answer = { code, message, details };
    }
    if (!isUnsafe(call.method)) return answer;
    const { user, groups, cluster } = askedBy;
    const outcome = 'body' in answer ? { outcome: 'done', code: null } : { outcome: 'refused', code: answer.code };
    this.#logger.audit('Action for another cluster', {
      user,
      groups,
      cluster,
      action: id,
      kind,
      object: toLogText(call.path),
      ...outcome,
      ...(comment !== undefined && { comment }),
    });
    return answer;
  }

  /** A user of the other cluster, here. Names that Kubernetes gives are of one cluster: those of another one mean nothing here. */
  #callerOf({ user, groups, cluster }: AskedBy): Caller {
    const { mode } = this.#deps.authentication;
    const known = user === null ? undefined : { name: user, groups: groups.filter((group) => !isOfCluster(group)) };
    const caller: Caller = { mode, user: known, identity: undefined, peer: cluster };
    if (mode === 'none') return caller;
    if (!known || isOfCluster(known.name)) {
      const who = known ? `${known.name} of ${cluster}` : `callers of ${cluster} without a name`;
      throw new ApiError('FORBIDDEN', `${this.#name} knows no rights of ${who}`);
    }
    const all = [...known.groups, 'system:authenticated'];
    return { ...caller, identity: { user: known.name, uid: undefined, groups: all, extra: {} } };
  }

  #refusalOf(error: unknown, id: string): ApiError {
    const known = error instanceof ApiError ? error : this.#translate(error);
    if (known && known.code !== 'INTERNAL_ERROR') return known;
    this.#logger.error('An action failed', { action: id, ...describe(known?.cause ?? error) });
    return known ?? internalError(error);
  }
}

function isOfCluster(name: string): boolean {
  return name.startsWith('system:');
}
