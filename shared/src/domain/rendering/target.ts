import type { ChannelType, ChatFormat, WebhookFormat } from '../../contract/index.ts';

/** `reduced`: without logs, events, pods, blocks and details, for a receiver that refused the whole message. */
export type Form = 'full' | 'reduced';

/** Where one value of a Secret is. */
export interface SecretKeyRef {
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
}

/** What a channel needs of the spec of an AlertChannel of its type: the decoded spec fits as it is. Undefined: built in. */
export interface ChatTarget {
  readonly type: 'chat';
  readonly chat: {
    readonly format: ChatFormat;
    readonly webhookSecretRef: SecretKeyRef;
    readonly defaultChannel: string | undefined;
    readonly messageTemplate: string | undefined;
  };
}

export interface PagingTarget {
  readonly type: 'paging';
  readonly paging: {
    readonly routingKeySecretRef: SecretKeyRef;
    /** Undefined: the alert's own. */
    readonly severity: PagingSeverity | undefined;
    readonly endpoint: string | undefined;
  };
}

export type PagingSeverity = 'critical' | 'error' | 'warning' | 'info';

export interface EmailTarget {
  readonly type: 'email';
  readonly email: {
    readonly smtpSecretRef: { readonly namespace: string; readonly name: string };
    readonly from: string;
    readonly to: readonly string[];
    readonly tls: 'required' | 'opportunistic';
    readonly subjectTemplate: string | undefined;
    readonly bodyTemplate: string | undefined;
  };
}

export interface WebhookTarget {
  readonly type: 'webhook';
  readonly webhook: {
    readonly urlSecretRef: SecretKeyRef;
    readonly format: WebhookFormat;
    readonly readSilences: boolean;
    readonly method: 'POST' | 'PUT' | 'PATCH';
    readonly headers: Readonly<Record<string, string>>;
    readonly payloadTemplate: string | undefined;
    /** Undefined: unsigned. */
    readonly signingSecretRef: SecretKeyRef | undefined;
    readonly sendUpdates: boolean;
  };
}

export type ChannelTarget = ChatTarget | PagingTarget | EmailTarget | WebhookTarget;
export type TargetOf<Type extends ChannelType> = Extract<ChannelTarget, { type: Type }>;
