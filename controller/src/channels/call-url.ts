import type { SendDeps } from './channel.ts';
import { sendHttp } from './outbound-http.ts';

/**
 * GETs an address that is itself a secret, under the rules of every receiver: checked addresses, no redirect, no proxy, 15 s at most.
 * Resolves with undefined when it answered with success, else with a sentence without anything of the address or of the answer's text;
 * rejects only with the reason of an aborted signal. `url`: http or https, user and password allowed. Throws when it is none.
 */
export function createUrlCall(url: string, deps: SendDeps): (signal: AbortSignal) => Promise<string | undefined> {
  const target = new URL(url);
  const { username, password } = target;
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64');
  target.username = '';
  target.password = '';
  const headers = {
    'user-agent': 'cronjob-monitor',
    ...(username + password !== '' && { authorization: `Basic ${credentials}` }),
  };
  return async (signal) => {
    const result = await sendHttp({ url: target, method: 'GET', headers, body: '' }, deps, signal);
    if ('failure' in result) return result.failure.message;
    const { status } = result.answer;
    return status >= 200 && status < 300 ? undefined : `it answered ${status}`;
  };
}
