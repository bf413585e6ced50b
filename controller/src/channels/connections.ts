import { Agent as HttpAgent, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent, type RequestOptions } from 'node:https';

/** Servers keep an idle connection for longer: so soon hardly one is closed just as a message is written into it. */
const idleMs = 500;
/** Of one receiver: more are not in use at once but in rare moments. */
const mostIdle = 4;

/** What a request is made with. Only a connection to one of the checked addresses carries it. */
interface CheckedOptions {
  readonly agent: HttpAgent;
  readonly checked: string;
}

/**
 * Connections to receivers, kept for a moment between messages: in a storm each message would else open one. A kept one is used again only
 * for the same host and port, and only while the addresses that the name has now, checked anew for each message, are those that it was opened
 * for. No proxy of the environment is asked.
 */
export class Connections {
  readonly #plain = new CheckedAgent({ keepAlive: true, timeout: idleMs, maxFreeSockets: mostIdle });
  readonly #secure = new CheckedSecureAgent({ keepAlive: true, timeout: idleMs, maxFreeSockets: mostIdle });

  /** `addresses`: checked, of the host of this request. */
  optionsFor(url: URL, addresses: readonly string[]): CheckedOptions {
    const agent = url.protocol === 'https:' ? this.#secure : this.#plain;
    return { agent, checked: addresses.toSorted().join() };
  }
}

class CheckedAgent extends HttpAgent {
  override getName(options?: ClientRequestArgs & Partial<CheckedOptions>): string {
    return `${super.getName(options)} ${options?.checked ?? ''}`;
  }
}

class CheckedSecureAgent extends HttpsAgent {
  override getName(options?: RequestOptions & Partial<CheckedOptions>): string {
    return `${super.getName(options)} ${options?.checked ?? ''}`;
  }
}
