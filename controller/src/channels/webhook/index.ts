import {
  alertmanagerPayload,
  basesOf,
  webhookPayload,
  type WebhookPayload,
  type WebhookTarget,
  webhookUrlProblem,
} from '@cronjob-monitor/shared/domain';
import type { Channel, Secrets } from '../channel.ts';
import { findSecretUrls, findSecretValue, isUnusable, unusable } from '../secret-value.ts';
import { sendToAlertmanager, type Peers } from './alertmanager.ts';
import { findHeaderProblem, sendWebhook, type WebhookCredentials, readSigningKeys } from './send.ts';

/** JSON to any address, signed when a key is given; or alerts to the peers of an Alertmanager. */
export const webhook: Channel<'webhook', WebhookCredentials, WebhookPayload> = {
  type: 'webhook',
  // One at a time to an Alertmanager: what is sent again must not overtake an end.
  paceOf: ({ webhook: { format } }) => ({ inFlight: format === 'alertmanager' ? 1 : 2, gapMs: 0 }),
  credentialsOf: ({ webhook: { urlSecretRef, signingSecretRef, format } }, secrets) => {
    const urls = findSecretUrls(urlSecretRef, secrets, {
      problemOf: (value) => webhookUrlProblem(format, value),
      partsOf: format === 'alertmanager' ? basesOf : (value) => [value],
    });
    if (isUnusable(urls)) return urls;
    if (!signingSecretRef) return { urls, signingKeys: [] };
    const value = findSecretValue(signingSecretRef, secrets);
    if (typeof value !== 'string') return value;
    const signingKeys = readSigningKeys(value);
    const { namespace, name, key } = signingSecretRef;
    if (signingKeys) return { urls, signingKeys };
    return unusable(`Secret ${namespace}/${name}: ${key} holds no signing key (whsec_ and 24 to 64 bytes in base64)`);
  },
  hostsOf: ({ webhook: { headers } }, { urls }) => {
    const problem = findHeaderProblem(headers);
    return problem === undefined ? urls.map(({ hostname }) => hostname) : unusable(problem, 'rejected');
  },
  payloadOf: (outgoing, target, form) =>
    target.webhook.format === 'alertmanager'
      ? alertmanagerPayload(outgoing, form, outgoing.createdAt)
      : webhookPayload(outgoing, target, form),
  send: (request, deps, signal) =>
    request.target.webhook.format === 'alertmanager'
      ? sendToAlertmanager(request, deps, signal)
      : sendWebhook(request, deps, signal),
};

/** The peers of a channel of the format alertmanager; undefined: they cannot be sent to, which its condition says. */
export function alertmanagerPeersOf(target: WebhookTarget, secrets: Secrets): Peers | undefined {
  const { headers } = target.webhook;
  const credentials = webhook.credentialsOf(target, secrets);
  return isUnusable(credentials) || findHeaderProblem(headers) !== undefined
    ? undefined
    : { urls: credentials.urls, headers };
}
