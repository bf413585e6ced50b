import type { ChannelType } from '@cronjob-monitor/shared/contract';
import type { ChannelTarget, Form, Outgoing, TargetOf } from '@cronjob-monitor/shared/domain';
import { type Channel, type Pace, type Secrets, type SendDeps, type Unusable, connectLimitMs } from './channel.ts';
import { chat } from './chat.ts';
import { email } from './email/index.ts';
import { failed, type Failed, type Outcome, type Progress } from './outcome.ts';
import { paging } from './paging.ts';
import { reach } from './reach.ts';
import { isUnusable } from './secret-value.ts';
import { orAborted, startTimeLimit } from '@cronjob-monitor/shared/process';
import { addressRefused, failedInTransport } from './transport-failure.ts';
import { webhook } from './webhook/index.ts';

/** One attempt of one delivery, whatever its channel. */
export interface Attempt {
  /** The decoded spec of the AlertChannel as it is now. */
  readonly target: ChannelTarget;
  readonly secrets: Secrets;
  readonly outgoing: Outgoing;
  readonly form: Form;
  /** 1, 2, … */
  readonly attempt: number;
  /** As the last attempt left it; undefined: not told yet. */
  readonly progress: Progress | undefined;
}

/** A channel as the pipeline sees it: all are alike. A target of another type is a mistake of the caller and throws. */
export interface RegisteredChannel {
  readonly type: ChannelType;
  paceOf(target: ChannelTarget): Pace;
  /** Sends one message, judges what came of it: within 15 s. Rejects only with the reason of an aborted signal. */
  send(attempt: Attempt, deps: SendDeps, signal: AbortSignal): Promise<Outcome>;
  /**
   * What keeps it from sending, found without sending anything: in the spec, in its Secrets, in the addresses of its host.
   * Undefined: nothing. A host name that cannot be resolved within 5 s is nothing: the next attempt will tell. Rejects only with the
   * reason of an aborted signal.
   */
  findProblem(
    channel: Pick<Attempt, 'target' | 'secrets'>,
    deps: SendDeps,
    signal: AbortSignal,
  ): Promise<Failed | undefined>;
  /** What goes over the wire, but for credentials. */
  payloadOf(outgoing: Outgoing, target: ChannelTarget, form: Form): unknown;
}

/** Every way to tell people, one line each. */
export const channels: readonly RegisteredChannel[] = [
  register(chat),
  register(paging),
  register(email),
  register(webhook),
];

export function getChannel(type: ChannelType): RegisteredChannel {
  const channel = channels.find((one) => one.type === type);
  if (!channel) throw new Error(`there is no channel of type ${type}`);
  return channel;
}

function register<Type extends ChannelType, Credentials extends object, Payload>(
  channel: Channel<Type, Credentials, Payload>,
): RegisteredChannel {
  const own = (target: ChannelTarget): TargetOf<Type> => {
    if (target.type !== channel.type) throw new Error(`a channel of type ${channel.type} was given a ${target.type}`);
    return target as TargetOf<Type>; // its type was just compared
  };
  const prepare = (
    target: TargetOf<Type>,
    secrets: Secrets,
    deps: SendDeps,
  ): { credentials: Credentials; hosts: readonly string[] } | Unusable => {
    const credentials = channel.credentialsOf(target, secrets);
    if (isUnusable(credentials)) return credentials;
    const hosts = channel.hostsOf(target, credentials, deps);
    return isUnusable(hosts) ? hosts : { credentials, hosts };
  };
  return {
    type: channel.type,
    paceOf: (target) => channel.paceOf(own(target)),
    payloadOf: (outgoing, target, form) => channel.payloadOf(outgoing, own(target), form),
    async send({ target, secrets, ...attempt }, deps, signal) {
      signal.throwIfAborted();
      const prepared = prepare(own(target), secrets, deps);
      if (isUnusable(prepared)) return notTried(prepared, attempt.progress);
      const request = { ...attempt, target: own(target), credentials: prepared.credentials };
      return channel.send(request, deps, signal);
    },
    async findProblem({ target, secrets }, deps, signal) {
      const prepared = prepare(own(target), secrets, deps);
      if (isUnusable(prepared)) return notTried(prepared);
      const refused = await Promise.all(prepared.hosts.map((host) => isHostRefused(host, deps, signal)));
      return refused.includes(true) ? failedInTransport(addressRefused) : undefined;
    },
  };
}

async function isHostRefused(host: string, deps: SendDeps, signal: AbortSignal): Promise<boolean> {
  const limit = startTimeLimit(deps.clock, connectLimitMs, signal);
  try {
    const reached = await orAborted(reach(host, deps), limit.signal);
    return 'refused' in reached && reached.refused === 'address';
  } catch {
    signal.throwIfAborted();
    return false; // The time is over: as little is known as of a name that cannot be resolved.
  } finally {
    limit.end();
  }
}

function notTried({ problem, category }: Unusable, progress?: Progress): Failed {
  return failed('invalid', category, problem, { progress });
}
