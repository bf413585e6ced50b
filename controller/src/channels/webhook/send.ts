import type { SendDeps, SendRequest } from '../channel.ts';
import type { Outcome } from '../outcome.ts';
import { sendAndJudge } from '../send-and-judge.ts';
import type { WebhookTarget } from '../target.ts';
import { mergeHeaders } from './headers.ts';
import { webhookPayload } from './payload.ts';
import { sign } from './signature.ts';

export interface WebhookCredentials {
  readonly url: URL;
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
  const { url } = credentials;
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
