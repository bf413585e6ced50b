import { webhookPayload, type WebhookTarget } from '@cronjob-monitor/shared/domain';
import { validateHeaderValue } from 'node:http';
import { createHmac } from 'node:crypto';
import type { SendDeps, SendRequest } from '../channel.ts';
import type { Outcome } from '../outcome.ts';
import { sendAndJudge } from '../send-and-judge.ts';

export interface WebhookCredentials {
  /** One, or the peers of an Alertmanager. */
  readonly urls: readonly URL[];
  /** Empty: unsigned. */
  readonly signingKeys: readonly Buffer[];
}

export async function sendWebhook(
  request: SendRequest<WebhookTarget, WebhookCredentials>,
  deps: SendDeps,
  signal: AbortSignal,
): Promise<Outcome> {
  const { outgoing, target, credentials, form } = request;
  const { method, headers } = target.webhook;
  const { body } = webhookPayload(outgoing, target, form);
  const ours = ownHeaders(request, body, Math.floor(deps.clock.now() / 1_000));
  const [url] = credentials.urls;
  if (url === undefined) throw new Error('a webhook without an address was not refused');
  return sendAndJudge({ url, method, headers: mergeHeaders(headers, ours), body }, form, deps, signal);
}

/** The id stays the same on every attempt; time, number and signature are those of this one. */
function ownHeaders(
  { outgoing, credentials, attempt }: SendRequest<WebhookTarget, WebhookCredentials>,
  body: string,
  timestamp: number,
): Record<string, string> {
  const id = outgoing.deliveryId;
  const { signingKeys } = credentials;
  return {
    'webhook-id': id,
    'idempotency-key': id,
    'webhook-timestamp': String(timestamp),
    'x-monitor-delivery-attempt': String(attempt),
    ...(signingKeys.length > 0 && { 'webhook-signature': sign(signingKeys, { id, timestamp, body }) }),
  };
}

/** Headers that the service sets or that would change how the request is read. alerting.md section 10.3. */
const reserved = /^(?:host|connection|transfer-encoding|content-(?:length|encoding)|webhook-.*)$/i;
const headerName = /^[A-Za-z0-9-]{1,64}$/;

/** What keeps the headers of a spec from being sent, by the name of the first such header; never its value. */
export function findHeaderProblem(headers: Readonly<Record<string, string>>): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name) || reserved.test(name))
      return 'spec.webhook.headers names a header that is set by the service';
    if (!isSendable(name, value)) return `the value of the header ${name} cannot be sent`;
  }
  return undefined;
}

/** All headers of a request: those of the spec, `content-type` too, and above them ours. Names in lower case. */
export function mergeHeaders(
  fromSpec: Readonly<Record<string, string>>,
  ours: Readonly<Record<string, string>>,
): Record<string, string> {
  const given = Object.entries(fromSpec).map(([name, value]) => [name.toLowerCase(), value]);
  return { 'content-type': 'application/json', 'user-agent': 'cronjob-monitor', ...Object.fromEntries(given), ...ours };
}

function isSendable(name: string, value: string): boolean {
  try {
    validateHeaderValue(name, value);
    return true;
  } catch {
    return false; // Its message may repeat the value.
  }
}

const prefix = 'whsec_';
const fewestBytes = 24;
const mostBytes = 64;
/** A second key while receivers change from one to the other. */
const mostKeys = 2;

/**
 * The keys in the value of a Secret: one, or two apart by blanks or a comma. Undefined when it is none of this; a wrong key is not
 * told apart from a right one by any sentence.
 */
export function readSigningKeys(value: string): readonly Buffer[] | undefined {
  const keys = value
    .split(/[\s,]+/)
    .filter((text) => text !== '')
    .map(toKey);
  const good = keys.filter((key) => key !== undefined);
  return good.length === keys.length && good.length >= 1 && good.length <= mostKeys ? good : undefined;
}

/**
 * The value of `webhook-signature`: one signature for each key over id, time and body.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function sign(
  keys: readonly Buffer[],
  { id, timestamp, body }: { readonly id: string; readonly timestamp: number; readonly body: string },
): string {
  const content = `${id}.${timestamp}.${body}`;
  return keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`).join(' ');
}

function toKey(text: string): Buffer | undefined {
  const encoded = text.startsWith(prefix) ? text.slice(prefix.length) : '';
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(encoded)) return undefined;
  const key = Buffer.from(encoded, 'base64');
  return key.length >= fewestBytes && key.length <= mostBytes ? key : undefined;
}
