import { formatNames } from './channels.ts';
import { isObject } from '@cronjob-monitor/shared/contract';

/** One line of the configuration of a channel. */
interface ConfigurationLine {
  readonly name: string;
  readonly says: string;
  /** A Secret that cannot be used. */
  readonly isWrong: boolean;
}

/** `urlSecretRef` to `URL Secret`: the names of the resource, as words. */
const names: Readonly<Record<string, string>> = {
  channel: 'Channel',
  defaultChannel: 'Channel',
  format: 'Format',
  readSilences: 'Reads silences back',
  urlSecretRef: 'Address',
  webhookSecretRef: 'Address',
  routingKeySecretRef: 'Routing key',
  smtpSecretRef: 'Mail server',
  signingSecretRef: 'Signing key',
  sendUpdates: 'Takes updates',
  payloadTemplate: 'Payload template',
  messageTemplate: 'Message template',
  subjectTemplate: 'Subject template',
  bodyTemplate: 'Body template',
  tls: 'TLS',
};

/** The configuration of a channel, as it may be shown: where its Secrets are, never their values. */
export function channelConfigLines(config: Readonly<Record<string, unknown>>): ConfigurationLine[] {
  return Object.entries(config).map(([key, value]) => ({
    name: names[key] ?? `${key.charAt(0).toUpperCase()}${key.slice(1)}`,
    says: (key === 'format' ? formatNames[String(value)] : undefined) ?? valueText(value),
    isWrong: isObject(value) && value['usable'] === false,
  }));
}

function valueText(value: unknown): string {
  if (value === null || value === undefined || value === '') return 'not set';
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((one) => valueText(one)).join(', ');
  if (isObject(value)) return 'usable' in value ? secretText(value) : recordText(value);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function secretText(ref: Readonly<Record<string, unknown>>): string {
  const key = typeof ref['key'] === 'string' ? `, key ${ref['key']}` : '';
  const state = ref['usable'] === false ? ': it cannot be used' : '';
  return `Secret ${String(ref['namespace'])}/${String(ref['name'])}${key}${state}`;
}

function recordText(value: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(value).map(([key, inner]) => `${key}: ${valueText(inner)}`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}
