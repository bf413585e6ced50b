import { createHmac, timingSafeEqual } from 'node:crypto';
import { HttpSink, type HttpArrival, type HttpSinkOptions } from './http-sink.ts';

/** A receiver of webhooks: takes whatever comes, or with a key only what is signed with it. */
export function startWebhookSink({
  signingKey,
  ...options
}: HttpSinkOptions & { readonly signingKey?: string | undefined } = {}): Promise<HttpSink> {
  if (signingKey === undefined) return HttpSink.start(options);
  return HttpSink.start({ answer: (arrival) => ({ status: isSigned(arrival, signingKey) ? 200 : 401 }), ...options });
}

/**
 * Verifies as a library of the receiver does: any one signature of the list, over id, time and body, by this key.
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
export function isSigned({ headers, body }: Pick<HttpArrival, 'headers' | 'body'>, signingKey: string): boolean {
  const header = (name: string): string => String(headers[name] ?? '');
  const key = Buffer.from(signingKey.replace(/^whsec_/, ''), 'base64');
  const content = `${header('webhook-id')}.${header('webhook-timestamp')}.${body}`;
  const wanted = createHmac('sha256', key).update(content).digest();
  return header('webhook-signature')
    .split(' ')
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => Buffer.from(signature.slice('v1,'.length), 'base64'))
    .some((given) => given.length === wanted.length && timingSafeEqual(given, wanted));
}
