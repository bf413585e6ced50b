import type { ChatFormat, WebhookFormat } from '../../contract/index.ts';

/**
 * What values of Secrets must look like before they leave: the author of a channel may name any key of any Secret that channels may use,
 * and must not learn a value that was never meant for it. Each function says what is wrong as the end of a sentence, without the value;
 * undefined: nothing.
 */

/** The events API of the paging service gives keys of 32 characters; others take what is like one. */
const routingKey = /^[A-Za-z0-9_-]{20,64}$/;

export function routingKeyProblem(value: string): string | undefined {
  return routingKey.test(value) ? undefined : 'is no routing key: 20 to 64 letters, digits, - and _';
}

export function receiverUrlProblem(value: string): string | undefined {
  // A parser forgives what is no URL: blanks within, a scheme without slashes.
  if (/[\s\p{Cc}]/u.test(value) || !/^[a-z][a-z0-9+.-]*:/i.test(value)) return 'is no URL';
  const url = URL.parse(value);
  if (!url) return 'is no URL';
  if (!/^https?:\/\/[^/\\?#]/i.test(value)) return 'is no http or https URL with a host';
  if (url.username !== '' || url.password !== '') {
    return 'has a user or a password before its host, which is not sent: a webhook takes them as an authorization header, in spec.webhook.headers';
  }
  return undefined;
}

/** The same for the address of a chat room: Telegram's and ntfy's say in their paths who sends, or what topic it is. */
export function chatUrlProblem(format: ChatFormat, value: string): string | undefined {
  const problem = receiverUrlProblem(value);
  if (problem !== undefined) return problem;
  const { pathname } = new URL(value);
  if (format === 'telegram' && !/\/bot[^/]+\/sendMessage$/.test(pathname))
    return 'is no address of a bot: https://api.telegram.org/bot<token>/sendMessage';
  if (format === 'ntfy' && !/\/[A-Za-z0-9_-]{1,64}$/.test(pathname))
    return 'has no topic at its end: 1 to 64 letters, digits, - and _, such as https://ntfy.sh/<topic>';
  return undefined;
}

/** Most base addresses of one Alertmanager cluster. */
const mostBases = 8;

/** The base addresses of an Alertmanager's peers, apart by blanks. */
export function basesOf(value: string): readonly string[] {
  return value.split(/\s+/).filter((base) => base !== '');
}

/** The same for the value that a webhook sends to: one address, or the peers of an Alertmanager. */
export function webhookUrlProblem(format: WebhookFormat, value: string): string | undefined {
  if (format === 'standard') return receiverUrlProblem(value);
  const bases = basesOf(value);
  if (bases.length === 0 || bases.length > mostBases)
    return `has ${bases.length} addresses: 1 to ${mostBases} base URLs of Alertmanager, apart by blanks`;
  for (const base of bases) {
    const problem = receiverUrlProblem(base);
    if (problem !== undefined) return `has an address that ${problem}`;
    const { pathname, search, hash } = new URL(base);
    if (search !== '' || hash !== '' || /\/api\/v\d+(\/|$)/.test(pathname))
      return 'has an address that is no base URL, such as http://alertmanager.monitoring:9093';
  }
  return undefined;
}

/** Why a paging channel may not send where its spec says. */
export const pagingEndpointRefused = 'spec.paging.endpoint is not one of channels.paging-endpoints';
