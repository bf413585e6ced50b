import type { ChannelType, SecretRef } from '@cronjob-monitor/shared/contract';
import type { CatalogChannelState } from '@cronjob-monitor/shared/store';
import { isObject, type Json, textsOf, objectOf } from '@cronjob-monitor/shared/domain';

type Told = (block: Json, channel: CatalogChannelState) => Json;

/** What a list tells of where a channel sends: a few words, none of them from a Secret. */
export function shortConfig(channel: CatalogChannelState): Json {
  return short[channel.type](blockOf(channel), channel);
}

/** The whole block of the type, field by field: what is not named here is not told. */
export function fullConfig(channel: CatalogChannelState): Json {
  return full[channel.type](blockOf(channel), channel);
}

const short: Readonly<Record<ChannelType, Told>> = {
  chat: (block) => ({ format: formatOf(block), channel: textOrNull(block['defaultChannel']) }),
  paging: (block) => ({ severity: textOrNull(block['severity']) }),
  email: (block) => ({ from: textOrNull(block['from']), to: textsOf(block['to']) }),
  webhook: (block) => ({ format: webhookFormatOf(block), method: textOrNull(block['method']) }),
};

const full: Readonly<Record<ChannelType, Told>> = {
  chat: (block, channel) => ({
    webhookSecretRef: presentSecret(block['webhookSecretRef'], channel),
    format: formatOf(block),
    defaultChannel: textOrNull(block['defaultChannel']),
    messageTemplate: textOrNull(block['messageTemplate']),
  }),
  paging: (block, channel) => ({
    routingKeySecretRef: presentSecret(block['routingKeySecretRef'], channel),
    severity: textOrNull(block['severity']),
    endpoint: textOrNull(block['endpoint']),
  }),
  email: (block, channel) => ({
    smtpSecretRef: presentSecret(block['smtpSecretRef'], channel),
    from: textOrNull(block['from']),
    to: textsOf(block['to']),
    tls: textOrNull(block['tls']),
    subjectTemplate: textOrNull(block['subjectTemplate']),
    bodyTemplate: textOrNull(block['bodyTemplate']),
  }),
  webhook: (block, channel) => ({
    urlSecretRef: presentSecret(block['urlSecretRef'], channel),
    format: webhookFormatOf(block),
    readSilences: block['readSilences'] !== false,
    method: textOrNull(block['method']),
    // Values may be credentials; even here, where none should be left.
    headers: Object.fromEntries(Object.keys(objectOf(block['headers'])).map((name) => [name, '***'])),
    payloadTemplate: textOrNull(block['payloadTemplate']),
    signingSecretRef: presentSecret(block['signingSecretRef'], channel),
    sendUpdates: block['sendUpdates'] === true,
  }),
};

/** How many messages the channel takes, by the spec as it was applied. */
export function limitsOf(spec: unknown): { readonly maxAlertsPerHour: number; readonly burstLimit: number } {
  const limits = objectOf(objectOf(spec)['rateLimiting']);
  const numberOr = (value: unknown, standard: number): number => (typeof value === 'number' ? value : standard);
  return {
    maxAlertsPerHour: numberOr(limits['maxAlertsPerHour'], 100),
    burstLimit: numberOr(limits['burstLimit'], 10),
  };
}

/** The reconciler tells in one sentence which Secret it cannot use; all it did not name it could. */
function presentSecret(ref: unknown, { ready, reason, message }: CatalogChannelState): SecretRef | null {
  if (!isObject(ref)) return null;
  const { name, namespace, key } = ref;
  if (typeof name !== 'string' || typeof namespace !== 'string') return null;
  const isNamed = message.split(/[\s,:;]+/).includes(`${namespace}/${name}`);
  const usable = ready || (reason !== 'NotChecked' && !isNamed);
  return { name, namespace, key: textOrNull(key), usable };
}

/** Slack's, for a spec that was stored before there were others; null for one that cannot be used, of which nothing is stored. */
function formatOf(block: Json): string | null {
  return textOrNull(block['format']) ?? (Object.keys(block).length > 0 ? 'slack' : null);
}

/** For a spec that was stored before there were others. */
function webhookFormatOf(block: Json): string {
  return textOrNull(block['format']) ?? 'standard';
}

function blockOf({ spec, type }: CatalogChannelState): Json {
  return objectOf(objectOf(spec)[type]);
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
