import type { ChatFormat, WebhookFormat } from '../../contract/index.ts';

/** The spec of an AlertChannel as applied: defaults filled in, without what could not be used. */
export type ChannelSpec = ChannelTarget & {
  readonly rateLimiting: { readonly maxAlertsPerHour: number; readonly burstLimit: number };
  readonly sendResolved: boolean;
  /** Of paging: what ended before it was told is triggered and resolved in one go. */
  readonly sendRecovered: boolean;
  readonly testOnSave: boolean;
  /** Namespaces that it admits. Absent: monitors of all, and annotations of none. */
  readonly allowedNamespaces?: readonly string[] | undefined;
  /** Undefined: a person proves it only when asked to by hand. */
  readonly drill?: DrillSpec | undefined;
};

/** When a person is asked to prove that they read what arrives there. */
export interface DrillSpec {
  /** Five fields, at most one a day. */
  readonly schedule: string;
  readonly timezone: string;
  /** A duration, from when the receiver accepted it. */
  readonly ackWithin: string;
  /** Name of the AlertChannel that hears when it is not proved. */
  readonly fallbackChannel: string | undefined;
}

/** Where it sends: one block, named as its type. resources.md section 6. */
export type ChannelTarget =
  | { readonly type: 'chat'; readonly chat: ChatSpec }
  | { readonly type: 'paging'; readonly paging: PagingSpec }
  | { readonly type: 'email'; readonly email: EmailSpec }
  | { readonly type: 'webhook'; readonly webhook: WebhookSpec };

/** One value of a Secret. */
export interface SecretKeyRef {
  readonly name: string;
  readonly namespace: string;
  readonly key: string;
}

export interface ChatSpec {
  readonly format: ChatFormat;
  readonly webhookSecretRef: SecretKeyRef;
  readonly defaultChannel: string | undefined;
  /** Undefined: built in, for every template. */
  readonly messageTemplate: string | undefined;
}

export const pagingSeverities = ['critical', 'error', 'warning', 'info'] as const;
export type PagingSeverity = (typeof pagingSeverities)[number];

export interface PagingSpec {
  readonly routingKeySecretRef: SecretKeyRef;
  /** Undefined: the alert's own. */
  readonly severity: PagingSeverity | undefined;
  /** Undefined: built in. */
  readonly endpoint: string | undefined;
}

export const emailTlsModes = ['required', 'opportunistic'] as const;
type EmailTlsMode = (typeof emailTlsModes)[number];

export interface EmailSpec {
  readonly smtpSecretRef: Omit<SecretKeyRef, 'key'>;
  readonly from: string;
  readonly to: readonly string[];
  readonly tls: EmailTlsMode;
  readonly subjectTemplate: string | undefined;
  readonly bodyTemplate: string | undefined;
}

export const webhookMethods = ['POST', 'PUT', 'PATCH'] as const;
type WebhookMethod = (typeof webhookMethods)[number];

export interface WebhookSpec {
  readonly urlSecretRef: SecretKeyRef;
  readonly format: WebhookFormat;
  /** Silences and inhibitions of an Alertmanager are read back. */
  readonly readSilences: boolean;
  readonly method: WebhookMethod;
  readonly headers: Readonly<Record<string, string>>;
  readonly payloadTemplate: string | undefined;
  readonly signingSecretRef: SecretKeyRef | undefined;
  /** Log and events that come after a message are sent as `alert.updated`. */
  readonly sendUpdates: boolean;
}

/** The Secrets a channel needs, each with the keys that must be in it. */
export interface NeededSecret {
  readonly namespace: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/** In the order in which they are checked. */
export function neededSecrets(spec: ChannelTarget): NeededSecret[] {
  const one = ({ namespace, name, key }: SecretKeyRef): NeededSecret => ({ namespace, name, keys: [key] });
  if (spec.type === 'chat') return [one(spec.chat.webhookSecretRef)];
  if (spec.type === 'paging') return [one(spec.paging.routingKeySecretRef)];
  if (spec.type === 'email') return [{ ...spec.email.smtpSecretRef, keys: ['host'] }];
  const { urlSecretRef, signingSecretRef } = spec.webhook;
  return [one(urlSecretRef), ...(signingSecretRef ? [one(signingSecretRef)] : [])];
}
