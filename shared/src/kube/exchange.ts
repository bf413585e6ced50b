import type { Dispatcher } from 'undici';
import type { Clock } from '../process/index.ts';
import { ClusterError } from './cluster.ts';
import type { Authorization, Credentials } from './credentials.ts';
import { answeredAt, type Asked, errorCode, toAnswerError, toConnectionError } from './failure.ts';
import type { Connections, Lane, Transport } from './transport.ts';

/** One request, before it is known who asks and over which connection. */
export interface Question extends Asked {
  readonly lane: Lane;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH';
  /** With the query. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: object | undefined;
  /** Of the body; JSON when absent. */
  readonly contentType?: string | undefined;
}

/** Who we are at which server. */
export interface Access {
  readonly credentials: Credentials;
  readonly authorization: Authorization;
}

export interface ExchangeDeps {
  readonly clock: Clock;
  readonly transport: Transport;
  readonly limiter: RateLimiter;
  /** Of the lane `evidence`, which alone keeps to it. */
  readonly evidenceLimiter: RateLimiter;
  readonly access: () => Promise<Access>;
  /** The server refused the credentials: the next call reads them anew. */
  readonly distrust: () => void;
  /** The server told its time, epoch milliseconds, to the second. */
  readonly heardTime: (serverAt: number) => void;
  /** Hears of every request that was sent, or could not be. */
  readonly answered?: ((answer: Answered) => void) | undefined;
  readonly callTimeoutMs: number;
  readonly headersTimeoutMs: number;
  readonly userAgent: string;
}

/** How one request to the API server ended. */
export interface Answered {
  readonly verb: string;
  readonly resource: string;
  /** HTTP status; undefined: there was no answer. */
  readonly status: number | undefined;
  /** To the end of the answer, of a stream to its head; without the wait for our own limit. */
  readonly tookMs: number;
}

/** So long nothing may come back before a call that was given up casts doubt on its connection; a stream may well be silent for longer. */
const callSilenceMs = 1000;
const streamSilenceMs = 30_000;
const maxErrorBytes = 64 * 1024;
/** A server that says 429 has its rest, for so long if it does not say for how long. */
const usualPauseMs = 1_000;
const mostPauseMs = 30_000;

/**
 * Asks and reads the whole answer within the time limit of a call; waiting for our own rate limit does not count. Rejects with a
 * `ClusterError`.
 */
export async function askText(question: Question, deps: ExchangeDeps, signal: AbortSignal): Promise<string> {
  const scope = openScope(signal, deps.clock);
  const exchange = new Exchange(question, deps, scope);
  try {
    const body = await exchange.open(deps.callTimeoutMs);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    exchange.tell(true);
    return Buffer.concat(chunks).toString('utf8');
  } catch (error) {
    exchange.tell(false);
    throw exchange.explain(error, 'asking');
  } finally {
    scope.release();
  }
}

/** Asks, and hands the answer on as it comes: only the wait for its head has a limit. The stream ends when the signal aborts. */
export async function askStream(
  question: Question,
  deps: ExchangeDeps,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const scope = openScope(signal, deps.clock);
  const exchange = new Exchange(question, deps, scope);
  try {
    const body = await exchange.open(deps.headersTimeoutMs);
    scope.liftLimit();
    exchange.tell(true);
    return exchange.readThrough(body);
  } catch (error) {
    scope.release();
    exchange.tell(false);
    throw exchange.explain(error, 'asking');
  }
}

/** One request and its answer. */
class Exchange {
  readonly #question: Question;
  readonly #deps: ExchangeDeps;
  readonly #scope: ExchangeScope;
  #connections: Connections | undefined;
  #status: number | undefined;

  constructor(question: Question, deps: ExchangeDeps, scope: ExchangeScope) {
    this.#question = question;
    this.#deps = deps;
    this.#scope = scope;
  }

  /** Resolves with the body of a success. */
  async open(limitMs: number): Promise<AsyncIterable<Uint8Array>> {
    const { lane } = this.#question;
    const { limiter, evidenceLimiter, clock, heardTime, distrust } = this.#deps;
    if (lane !== 'lease') await (lane === 'evidence' ? evidenceLimiter : limiter).take(this.#scope.signal);
    this.#scope.limit(limitMs);
    const access = await this.#within(this.#access());
    const { statusCode, headers, body } = await this.#send(access);
    this.#hear();
    this.#status = statusCode;
    const serverAt = answeredAt(headers);
    if (serverAt !== undefined) heardTime(serverAt);
    if (statusCode >= 200 && statusCode <= 299) return this.#heard(body);
    if (statusCode === 401) distrust();
    const answer = { status: statusCode, headers, body: await readSome(body) };
    const error = toAnswerError(this.#question, answer, clock);
    if (lane === 'evidence' && error.code === 'throttled') {
      evidenceLimiter.pause(Math.min(mostPauseMs, error.retryAfterMs ?? usualPauseMs));
    }
    throw error;
  }

  /** Of a success that broke off in the middle there was no answer. */
  tell(whole: boolean): void {
    const { verb, resource } = this.#question;
    const isError = this.#status !== undefined && this.#status >= 300;
    this.#deps.answered?.({
      verb,
      resource,
      status: whole || isError ? this.#status : undefined,
      tookMs: this.#deps.clock.monotonicMs() - this.#scope.startedAtMs,
    });
  }

  async *readThrough(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    try {
      yield* body;
    } catch (error) {
      throw this.explain(error, 'lastHeard');
    } finally {
      this.#scope.release();
    }
  }

  /** What went wrong, in our own words. */
  explain(error: unknown, silenceSince: 'asking' | 'lastHeard'): ClusterError {
    if (error instanceof ClusterError) return error;
    const { timedOut, signal } = this.#scope;
    const { verb, resource } = this.#question;
    if (timedOut || signal.aborted) this.#judgeSilence(silenceSince);
    if (timedOut) {
      return new ClusterError('timeout', { verb, resource, message: `${verb} ${resource}: no answer in time` });
    }
    if (signal.aborted) {
      return new ClusterError('aborted', { verb, resource, message: `${verb} ${resource}: aborted` });
    }
    return toConnectionError(this.#question, error);
  }

  /**
   * Casts doubt on connections that were silent for too long: of a call, if nothing at all came on them since it was asked; of a stream,
   * since anything came last.
   */
  #judgeSilence(since: 'asking' | 'lastHeard'): void {
    const connections = this.#connections;
    if (!connections) return; // it never came so far
    const nowMs = this.#deps.clock.monotonicMs();
    const { startedAtMs } = this.#scope;
    const silent =
      since === 'asking'
        ? connections.heardAtMs <= startedAtMs && nowMs - startedAtMs >= callSilenceMs
        : nowMs - connections.heardAtMs >= streamSilenceMs;
    if (silent) this.#deps.transport.suspect(connections);
  }

  async #access(): Promise<Access> {
    const { verb, resource } = this.#question;
    try {
      return await this.#deps.access();
    } catch (error) {
      // The words of a credential plugin may hold anything: only a code is told.
      const code = errorCode(error);
      const message = `${verb} ${resource}: no credentials${code === undefined ? '' : ` (${code})`}`;
      throw new ClusterError('unauthorized', { verb, resource, message });
    }
  }

  #send({ credentials, authorization }: Access): ReturnType<Dispatcher['request']> {
    const { lane, method, path, body, contentType } = this.#question;
    const { transport, headersTimeoutMs, userAgent } = this.#deps;
    const { config, server } = credentials;
    const { origin, pathname } = new URL(server.server);
    const connections = transport.connections(lane, config, server, authorization.tls);
    this.#connections = connections;
    return connections.dispatcher.request({
      origin,
      path: `${pathname.replace(/\/$/, '')}${path}`,
      method,
      headers: {
        ...authorization.headers,
        // A log has errors in JSON and itself in plain text: asking for either alone breaks the other.
        accept: '*/*',
        'user-agent': userAgent,
        ...(body === undefined ? {} : { 'content-type': contentType ?? 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
      signal: this.#scope.signal,
      headersTimeout: headersTimeoutMs,
      bodyTimeout: 0,
    });
  }

  async *#heard(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      this.#hear();
      yield chunk;
    }
  }

  #hear(): void {
    if (this.#connections) this.#connections.heardAtMs = this.#deps.clock.monotonicMs();
  }

  /** The promise, or a rejection when the exchange ends before: a credential plugin knows no signal. */
  #within<T>(promise: Promise<T>): Promise<T> {
    const { signal } = this.#scope;
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = (): void => reject(signal.reason);
    if (signal.aborted) end();
    else signal.addEventListener('abort', end, { once: true });
    return Promise.race([promise, ended]).finally(() => signal.removeEventListener('abort', end));
  }
}

/** The beginning of an error's body: enough for a Status object. */
async function readSome(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= maxErrorBytes) break;
  }
  return Buffer.concat(chunks).subarray(0, maxErrorBytes).toString('utf8');
}

/** The life of one exchange: it ends when the caller's signal aborts or a time limit runs out, whichever is first. */
interface ExchangeScope {
  readonly signal: AbortSignal;
  /** The limit ran out before it was lifted. */
  readonly timedOut: boolean;
  /** On the monotonic clock: when the limit was last set. */
  readonly startedAtMs: number;
  limit(ms: number): void;
  liftLimit(): void;
  /** Lets go of the caller's signal and of the limit. */
  release(): void;
}

/** One for all: without a reason each abort would make an error with a trace of its own. */
const lifted = new Error('the limit is lifted');

function openScope(outer: AbortSignal, clock: Clock): ExchangeScope {
  const inner = new AbortController();
  let timer = new AbortController();
  let timedOut = false;
  let startedAtMs = clock.monotonicMs();
  const relay = (): void => inner.abort(outer.reason);
  if (outer.aborted) relay();
  else outer.addEventListener('abort', relay, { once: true });
  return {
    signal: inner.signal,
    get timedOut() {
      return timedOut;
    },
    get startedAtMs() {
      return startedAtMs;
    },
    limit(ms) {
      timer = new AbortController();
      startedAtMs = clock.monotonicMs();
      clock.sleep(ms, timer.signal).then(
        () => {
          timedOut = true;
          inner.abort(new Error('the time limit of the call ran out'));
        },
        () => undefined, // lifted in time
      );
    },
    liftLimit: () => timer.abort(lifted),
    release() {
      timer.abort(lifted);
      outer.removeEventListener('abort', relay);
    },
  };
}

/** Lets calls pass at a rate, with a burst; first come, first served. */
interface RateLimiter {
  /** Resolves when the caller may go on; rejects with the signal's reason when aborted before. */
  take(signal: AbortSignal): Promise<void>;
  /** The server asks to be left alone: nothing passes for so long, those that wait included. Then the rate holds, without a burst. */
  pause(ms: number): void;
}

/** `perSecond` calls, up to `burst` of them at once after a while without any. */
export function createRateLimiter(limits: { perSecond: number; burst: number }, clock: Clock): RateLimiter {
  const periodMs = 1000 / limits.perSecond;
  // The instant up to which all capacity is given away; it never lies further back than a full burst.
  let spentUntilMs = -Infinity;
  let pauses = 0;
  return {
    async take(signal) {
      for (let seen = -1; seen !== pauses;) {
        seen = pauses;
        signal.throwIfAborted();
        const nowMs = clock.monotonicMs();
        spentUntilMs = Math.max(spentUntilMs, nowMs - limits.burst * periodMs) + periodMs;
        // One that meets a pause while it waits takes its place anew.
        if (spentUntilMs > nowMs) await clock.sleep(spentUntilMs - nowMs, signal);
      }
    },
    pause(ms) {
      pauses++;
      spentUntilMs = clock.monotonicMs() + ms;
    },
  };
}
