import type { Channel } from '../channel.ts';
import { findSecretUrl, findSecretValue, isUnusable, unusable } from '../secret-value.ts';
import { findHeaderProblem, sendWebhook, type WebhookCredentials, readSigningKeys } from './send.ts';
import { webhookPayload, type WebhookPayload } from './payload.ts';

/** JSON to any address, signed when a key is given. */
export const webhook: Channel<'webhook', WebhookCredentials, WebhookPayload> = {
  type: 'webhook',
  paceOf: () => ({ inFlight: 2, gapMs: 0 }),
  credentialsOf: ({ webhook: { urlSecretRef, signingSecretRef } }, secrets) => {
    const url = findSecretUrl(urlSecretRef, secrets);
    if (isUnusable(url)) return url;
    if (!signingSecretRef) return { url, signingKeys: [] };
    const value = findSecretValue(signingSecretRef, secrets);
    if (typeof value !== 'string') return value;
    const signingKeys = readSigningKeys(value);
    const { namespace, name, key } = signingSecretRef;
    if (signingKeys) return { url, signingKeys };
    return unusable(`Secret ${namespace}/${name}: ${key} holds no signing key (whsec_ and 24 to 64 bytes in base64)`);
  },
  hostOf: ({ webhook: { headers } }, { url }) => {
    const problem = findHeaderProblem(headers);
    return problem === undefined ? url.hostname : unusable(problem, 'rejected');
  },
  payloadOf: webhookPayload,
  send: sendWebhook,
};
