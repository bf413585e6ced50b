import {
  digestBody,
  headingOf,
  type DigestedAlert,
  type FrozenMessage,
  type Message,
} from '@cronjob-monitor/shared/domain';

export interface DigestWords {
  /** Of the delivery, or of the storm. */
  readonly id: string;
  readonly cause: 'rateLimit' | 'storm' | 'firstLook';
  /** The storm is over. */
  readonly ended: boolean;
  readonly alerts: readonly DigestedAlert[];
}

/** One message that stands for many alerts, frozen. `clusterName`: `cluster.name`; `externalUrl`: `ui.external-url`. */
export function wordDigest(
  { id, cause, ended, alerts }: DigestWords,
  { clusterName, externalUrl }: { readonly clusterName: string | undefined; readonly externalUrl: string | undefined },
): FrozenMessage {
  const message: Message = {
    kind: 'digest',
    data: {
      cluster: clusterName ?? null,
      digest: { id, cause, ended, ...digestBody(alerts) },
      links: { alerts: externalUrl === undefined ? null : `${externalUrl.replace(/\/+$/, '')}/alerts` },
    },
  };
  return { message, heading: headingOf(message), place: null };
}
