import type { ChannelType, ChatFormat, WebhookFormat } from '../../contract/index.ts';

/** `reduced`: without logs, events, pods, blocks and details, for a receiver that refused the whole message. */
export type Form = 'full' | 'reduced';

/** One value of a Secret. */
export interface SecretKeyRef {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** Where a channel sends: the block of the spec of an AlertChannel that is named as its type. Undefined: built in. resources.md section 6. */
export interface ChatTarget {
  readonly type: 'chat';
  readonly chat: {
    readonly format: ChatFormat;
    readonly webhookSecretRef: SecretKeyRef;
    readonly defaultChannel: string | undefined;
    /** Undefined: built in, for every template. */
    readonly messageTemplate: string | undefined;
  };
}

export const pagingSeverities = ['critical', 'error', 'warning', 'info'] as const;
export type PagingSeverity = (typeof pagingSeverities)[number];

export interface PagingTarget {
  readonly type: 'paging';
  readonly paging: {
    readonly routingKeySecretRef: SecretKeyRef;
    /** Undefined: the alert's own. */
    readonly severity: PagingSeverity | undefined;
    readonly endpoint: string | undefined;
  };
}

export const emailTlsModes = ['required', 'opportunistic'] as const;

export interface EmailTarget {
  readonly type: 'email';
  readonly email: {
    readonly smtpSecretRef: Omit<SecretKeyRef, 'key'>;
    readonly from: string;
    readonly to: readonly string[];
    readonly tls: (typeof emailTlsModes)[number];
    readonly subjectTemplate: string | undefined;
    readonly bodyTemplate: string | undefined;
  };
}

export const webhookMethods = ['POST', 'PUT', 'PATCH'] as const;

export interface WebhookTarget {
  readonly type: 'webhook';
  readonly webhook: {
    readonly urlSecretRef: SecretKeyRef;
    readonly format: WebhookFormat;
    /** Silences and inhibitions of an Alertmanager are read back. */
    readonly readSilences: boolean;
    readonly method: (typeof webhookMethods)[number];
    readonly headers: Readonly<Record<string, string>>;
    readonly payloadTemplate: string | undefined;
    /** Undefined: unsigned. */
    readonly signingSecretRef: SecretKeyRef | undefined;
    /** Log and events that come after a message are sent as `alert.updated`. */
    readonly sendUpdates: boolean;
  };
}

export type ChannelTarget = ChatTarget | PagingTarget | EmailTarget | WebhookTarget;
export type TargetOf<Type extends ChannelType> = Extract<ChannelTarget, { type: Type }>;

/** A Secret that a channel needs, with the keys that must be in it. */
export interface NeededSecret {
  readonly namespace: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** The Secrets that a channel needs, in the order in which they are checked. */
export function neededSecrets(target: ChannelTarget): NeededSecret[] {
  const one = ({ namespace, name, key }: SecretKeyRef): NeededSecret => ({ namespace, name, keys: [key] });
  if (target.type === 'chat') return [one(target.chat.webhookSecretRef)];
  if (target.type === 'paging') return [one(target.paging.routingKeySecretRef)];
  if (target.type === 'email') return [{ ...target.email.smtpSecretRef, keys: ['host'] }];
  const { urlSecretRef, signingSecretRef } = target.webhook;
  return [one(urlSecretRef), ...(signingSecretRef ? [one(signingSecretRef)] : [])];
}

/** Headers that the service sets itself, or that would change how a receiver reads the request (alerting.md section 10.3). */
const ownHeader = /^(?:host|connection|transfer-encoding|content-(?:length|encoding)|webhook-.*)$/i;

/** Why a webhook of a spec cannot have a header of this name; undefined: it can. */
export function headerProblem(name: string): 'malformed' | 'reserved' | undefined {
  if (!/^[A-Za-z0-9-]{1,64}$/.test(name)) return 'malformed';
  return ownHeader.test(name) ? 'reserved' : undefined;
}
