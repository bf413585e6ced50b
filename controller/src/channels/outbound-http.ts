import { Agent as HttpAgent, type ClientRequestArgs, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { orAborted, startTimeLimit, type TimeLimit } from '@cronjob-monitor/shared/process';
import { connectLimitMs, type SendDeps, sendLimitMs } from './channel.ts';
import { bareHost, lookupIn, reach } from './reach.ts';
import { addressRefused, nameUnknown, toTransportFailure, type TransportFailure } from './transport-failure.ts';

const usualAnswerBytes = 64 * 1024;

export interface OutboundRequest {
  /** http or https, without userinfo. */
  readonly url: URL;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  readonly headers: Readonly<Record<string, string>>;
  /** Empty for GET. */
  readonly body: string;
  /** Most of the answer that is read, bytes; absent: 64 KiB. */
  readonly mostAnswerBytes?: number;
}

/** An answer. Its text decides for receivers that say there what became of the message, and leaves in no word of ours. */
export interface HttpAnswer {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  /** As much of it as is read. */
  readonly text: string;
}

type HttpResult = { readonly answer: HttpAnswer } | { readonly failure: TransportFailure };

/**
 * The only way out over HTTP: to a checked address, through no proxy, following no redirect, within 5 s for the connection and 15 s
 * in all. Rejects only with the reason of an aborted signal.
 */
export async function sendHttp(request: OutboundRequest, deps: SendDeps, signal: AbortSignal): Promise<HttpResult> {
  const whole = startTimeLimit(deps.clock, sendLimitMs, signal);
  const connecting = startTimeLimit(deps.clock, connectLimitMs, whole.signal);
  try {
    const reached = await orAborted(reach(request.url.hostname, deps), connecting.signal);
    if (!('addresses' in reached)) return { failure: reached.refused === 'address' ? addressRefused : nameUnknown };
    const answer = await exchange(request, reached.addresses, { whole, connecting, connections: deps.connections });
    const { status, headers, text } = answer;
    return { answer: { status, text, retryAfterMs: retryAfterMsOf(headers, deps.clock.now()) } };
  } catch (error) {
    signal.throwIfAborted();
    const phase = error instanceof Broken ? error.phase : 'connect';
    const timedOut = whole.passed || (phase === 'connect' && connecting.passed);
    return { failure: toTransportFailure({ phase, timedOut, code: codeOf(error) }) };
  } finally {
    connecting.end();
    whole.end();
  }
}

/** Servers keep an idle connection for longer: so soon hardly one is closed just as a message is written into it. */
const kept = { keepAlive: true, timeout: 500, maxFreeSockets: 4 } as const;

/**
 * Connections to receivers, kept for a moment between messages: in a storm each message would else open one. A kept one is used again only
 * for the same host and port, and only while the addresses that the name has now, checked anew for each message, are those that it was opened
 * for. No proxy of the environment is asked.
 */
export class Connections {
  readonly #plain = byAddresses(new HttpAgent(kept));
  readonly #secure = byAddresses(new HttpsAgent(kept));

  /** `addresses`: checked, of the host of this request. */
  optionsFor(url: URL, addresses: readonly string[]): { readonly agent: HttpAgent; readonly checked: string } {
    return { agent: url.protocol === 'https:' ? this.#secure : this.#plain, checked: addresses.toSorted().join() };
  }
}

function byAddresses<Kind extends HttpAgent>(agent: Kind): Kind {
  const nameOf = agent.getName.bind(agent);
  agent.getName = (options?: ClientRequestArgs & { readonly checked?: string }) =>
    `${nameOf(options)} ${options?.checked ?? ''}`;
  return agent;
}

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
}

/** No whole answer. */
class Broken extends Error {
  readonly phase: 'connect' | 'exchange';

  constructor(phase: 'connect' | 'exchange', cause?: unknown) {
    super('no whole answer', { cause });
    this.phase = phase;
  }
}

async function exchange(
  { url, method, headers, body, mostAnswerBytes = usualAnswerBytes }: OutboundRequest,
  addresses: readonly string[],
  {
    whole,
    connecting,
    connections,
  }: { readonly whole: TimeLimit; readonly connecting: TimeLimit; readonly connections: SendDeps['connections'] },
): Promise<Answer> {
  const isSecure = url.protocol === 'https:';
  const content = Buffer.from(body);
  const request = (isSecure ? requestHttps : requestHttp)({
    protocol: url.protocol,
    hostname: bareHost(url.hostname),
    port: url.port,
    path: url.pathname + url.search,
    method,
    headers: method === 'GET' ? headers : { ...headers, 'content-length': String(content.length) },
    ...connections.optionsFor(url, addresses),
    lookup: lookupIn(addresses),
    ...(isSecure && { rejectUnauthorized: true }),
  });
  let phase: Broken['phase'] = 'connect';
  try {
    return await new Promise<Answer>((resolve, reject) => {
      let isAnswered = false;
      const breakOff = (cause?: unknown): void => {
        if (!isAnswered) reject(new Broken(phase, cause));
      };
      const answered = (answer: Answer): void => {
        isAnswered = true;
        resolve(answer);
      };
      whole.signal.addEventListener('abort', breakOff, { once: true });
      connecting.signal.addEventListener('abort', () => phase === 'connect' && breakOff(), { once: true });
      request.on('error', breakOff);
      request.on('close', breakOff);
      const connected = (): void => {
        phase = 'exchange';
        connecting.end();
      };
      request.on('socket', (socket) => {
        if (request.reusedSocket) connected();
        else socket.once(isSecure ? 'secureConnect' : 'connect', connected);
      });
      request.on('response', (response) => readAnswer(response, mostAnswerBytes, { resolve: answered, breakOff }));
      request.end(content);
    });
  } finally {
    // Ends a connection that is not at the end of an answer; another one is kept by then.
    request.destroy();
  }
}

/** Reads to the end or to the limit: what an answer says beyond that decides nothing. */
function readAnswer(
  response: IncomingMessage,
  maxAnswerBytes: number,
  { resolve, breakOff }: { readonly resolve: (answer: Answer) => void; readonly breakOff: () => void },
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const end = (): void => {
    const text = Buffer.concat(chunks).subarray(0, maxAnswerBytes).toString('utf8');
    resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
  };
  response.on('data', (chunk: Buffer) => {
    if (bytes <= maxAnswerBytes) chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxAnswerBytes) end();
  });
  response.once('end', () => (response.complete ? end() : breakOff()));
  response.on('error', breakOff);
}

function codeOf(error: unknown): string | undefined {
  const cause = error instanceof Broken ? error.cause : error;
  const code = typeof cause === 'object' && cause !== null ? (cause as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : undefined;
}

/** More than this is not believed. */
export const longestMs = 60 * 60_000;

/**
 * How long a receiver asks to be left alone: seconds, or a date, which is measured against the answer's own Date, so that clocks
 * need not agree (RFC 9110, 10.2.3). Undefined when it does not ask, or in a form that the RFC does not have.
 */
export function retryAfterMsOf(
  headers: { readonly 'retry-after'?: string | undefined; readonly date?: string | undefined },
  now: Instant,
): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined) return undefined;
  if (/^\d+$/.test(asked)) return Math.min(Number(asked) * 1_000, longestMs);
  const until = dateOf(asked);
  if (until === undefined) return undefined;
  const wait = until - (dateOf(headers.date) ?? now);
  return Math.min(Math.max(0, wait), longestMs);
}

/** An HTTP date begins with the name of a day; what `Date.parse` takes besides is none. */
function dateOf(text: string | undefined): Instant | undefined {
  const at = text !== undefined && /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}

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
