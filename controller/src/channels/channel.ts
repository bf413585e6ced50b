import type { ChannelType, DeliveryErrorCategory } from '@cronjob-monitor/shared/contract';
import type { Form, Outgoing, TargetOf } from '@cronjob-monitor/shared/domain';
import type { Clock } from '@cronjob-monitor/shared/process';
import type { AddressRules } from './address-rules.ts';
import type { Outcome, Progress } from './outcome.ts';
import type { ResolveHost } from './reach.ts';

/** Limits of every attempt: alerting.md section 5. */
export const connectLimitMs = 5_000;
export const sendLimitMs = 15_000;

/** Where values of Secrets are looked up while a message is sent; undefined: there is no such Secret. Nothing of them is kept. */
export type Secrets = (ref: {
  readonly namespace: string;
  readonly name: string;
}) => ReadonlyMap<string, string> | undefined;

/** One attempt of one delivery. */
export interface SendRequest<Target, Credentials> {
  readonly outgoing: Outgoing;
  readonly target: Target;
  readonly credentials: Credentials;
  readonly form: Form;
  /** 1, 2, … */
  readonly attempt: number;
  /** What earlier attempts reached; undefined: nothing. */
  readonly progress: Progress | undefined;
}

export interface SendDeps {
  readonly clock: Clock;
  readonly addresses: AddressRules;
  /** Name to addresses; absent: as the machine resolves names. */
  readonly resolve?: ResolveHost;
  /** What a request over HTTP is made with, so that only a connection to one of these checked addresses carries it. */
  readonly connections: { optionsFor(url: URL, addresses: readonly string[]): object };
}

/** Why a spec or a Secret cannot be used: a sentence without the value. */
export interface Unusable {
  readonly problem: string;
  readonly category: Extract<DeliveryErrorCategory, 'secret' | 'rejected' | 'addressRefused'>;
}

/** How often and how many at once the receivers of a type want to be called. */
export interface Pace {
  /** Most sends in flight on one channel. */
  readonly inFlight: number;
  /** Least time between two messages of one channel. */
  readonly gapMs: number;
}

/**
 * One way to tell people: shapes the message for its medium, sends it, and judges the answer. What follows from the judgement is
 * the pipeline's business. A further way is one folder and one line in the registry.
 */
export interface Channel<Type extends ChannelType, Credentials, Payload> {
  readonly type: Type;
  paceOf(target: TargetOf<Type>): Pace;
  /** What it needs of the Secrets that the spec names, checked before anything is sent. */
  credentialsOf(target: TargetOf<Type>, secrets: Secrets): Credentials | Unusable;
  /** The hosts that it would send to, as URLs write them; or what in the spec, or in the rules, keeps it from sending. */
  hostsOf(
    target: TargetOf<Type>,
    credentials: Credentials,
    rules: Pick<SendDeps, 'addresses'>,
  ): readonly string[] | Unusable;
  /** What goes over the wire, but for credentials: the same for the same arguments on every attempt. */
  payloadOf(outgoing: Outgoing, target: TargetOf<Type>, form: Form): Payload;
  /**
   * One attempt, after `hostsOf` found nothing. Resolves with a judgement whatever the receiver does, within 15 s; rejects only with
   * the reason of an aborted signal.
   */
  send(request: SendRequest<TargetOf<Type>, Credentials>, deps: SendDeps, signal: AbortSignal): Promise<Outcome>;
}
