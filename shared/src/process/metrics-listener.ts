import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { join } from 'node:path';
import type { BindAddress, Config } from '../config/index.ts';
import { type CertificateSource, createCertificateSource, type ValidPair } from './certificate-source.ts';
import type { Clock } from './clock.ts';
import { closeListener, listen, listenerLimits } from './listen.ts';
import { type ProcessMetrics } from './metrics/index.ts';
import { type AskForReview, ReviewCache } from './review-cache.ts';
import type { Logger } from './logger.ts';

/** The content type of what `renderFamilies` gives. */
const textContentType = 'text/plain; version=0.0.4; charset=utf-8';

interface MetricsListenerDeps {
  readonly address: BindAddress;
  /** Undefined: plain HTTP, and callers are not asked who they are. */
  readonly secure: { readonly certificates: CertificateSource; readonly reviews: Pick<ReviewCache, 'ask'> } | undefined;
  readonly metrics: Pick<ProcessMetrics, 'render' | 'scraped' | 'certificateExpires'>;
  readonly clock: Clock;
}

interface MetricsListener {
  /** Resolves to the port. */
  start(): Promise<number>;
  stop(): Promise<void>;
}

const maxConnections = 100;
const idleMs = 30_000;
const tls = { minVersion: 'TLSv1.2' } as const;

/** Serves `/metrics`: by HTTPS to whom the cluster allows it, or by HTTP to everyone. */
export function createMetricsListener(deps: MetricsListenerDeps): MetricsListener {
  const { address, secure, metrics } = deps;
  const stopping = new AbortController();
  const handler = scrapeHandler(deps);
  const server = secure
    ? createSecureServer({ ...listenerLimits, ...tls }, handler)
    : createServer(listenerLimits, handler);
  server.maxConnections = maxConnections;
  server.timeout = idleMs;
  const use = (pair: ValidPair) => {
    metrics.certificateExpires(pair.expiresAt);
    if ('setSecureContext' in server) server.setSecureContext({ ...tls, cert: pair.certificate, key: pair.key });
  };
  return {
    start: async () => {
      if (secure) {
        use(await secure.certificates.first());
        secure.certificates.watch(use, stopping.signal);
      }
      return listen(server, 'metrics.bind-address', address);
    },
    stop: () => {
      stopping.abort();
      return closeListener(server);
    },
  };
}

function scrapeHandler(deps: MetricsListenerDeps): RequestListener {
  const text = new SharedText(() => deps.metrics.render());
  return (request, response) => {
    request.resume();
    answer(deps, text, request, response).catch(() => {
      response.destroy(); // The scraper went away, or what was to be told could not be made: half a text must not look whole.
    });
  };
}

async function answer(
  deps: MetricsListenerDeps,
  text: SharedText,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const [path = ''] = (request.url ?? '').split('?', 1);
  if (path !== '/metrics') return refuse(response, 404, 'not found');
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    return refuse(response, 405, 'method not allowed', { allow: 'GET, HEAD' });
  }
  if (deps.secure && !(await isLetThrough(deps.secure.reviews, request, response))) return undefined;

  const startedMs = deps.clock.monotonicMs();
  const zipped = takesGzip(request.headers['accept-encoding']);
  response.writeHead(200, {
    'content-type': textContentType,
    'cache-control': 'no-store',
    vary: 'accept-encoding',
    ...(zipped ? { 'content-encoding': 'gzip' } : {}),
  });
  if (request.method === 'HEAD') {
    response.end();
    return undefined;
  }
  const pieces = Readable.from(text.read());
  await (zipped ? pipeline(pieces, createGzip(), response) : pipeline(pieces, response));
  deps.metrics.scraped((deps.clock.monotonicMs() - startedMs) / 1000);
  return undefined;
}

/** Answers callers that may not see the metrics. */
async function isLetThrough(
  reviews: Pick<ReviewCache, 'ask'>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
  const review = token === undefined ? 'unauthenticated' : await reviews.ask(token);
  if (review === 'allowed') return true;
  if (review === 'unauthenticated') refuse(response, 401, 'unauthorized', { 'www-authenticate': 'Bearer' });
  else if (review === 'denied') refuse(response, 403, 'forbidden');
  else refuse(response, 503, 'the cluster cannot be asked', { 'retry-after': '5' });
  return false;
}

function refuse(response: ServerResponse, status: number, text: string, headers: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(text),
    'cache-control': 'no-store',
    ...headers,
  });
  response.end(text);
}

/** `gzip` among what is accepted, and not at quality 0. */
function takesGzip(accepted: string | string[] | undefined): boolean {
  const codings = String(accepted ?? '')
    .toLowerCase()
    .split(',');
  const gzip = codings.find((coding) => /^\s*(gzip|\*)\s*(;|$)/.test(coding));
  return gzip !== undefined && !/;\s*q=0(\.0+)?\s*$/.test(gzip);
}

/** One piece of a text, and the promise of the next. */
interface Link {
  readonly piece: string;
  readonly next: Promise<Link | undefined>;
}

/** A text that is made piece by piece, for as many readers as ask while it is being made: it is made once for all of them. */
export class SharedText {
  readonly #make: () => AsyncIterable<string>;
  #first: Promise<Link | undefined> | undefined;

  constructor(make: () => AsyncIterable<string>) {
    this.#make = make;
  }

  async *read(): AsyncGenerator<string> {
    this.#first ??= this.#begin();
    for (let link = await this.#first; link; link = await link.next) yield link.piece;
  }

  #begin(): Promise<Link | undefined> {
    const pieces = this.#make()[Symbol.asyncIterator]();
    const over = () => {
      this.#first = undefined;
    };
    const follow = async (): Promise<Link | undefined> => {
      const { done, value } = await pieces.next();
      if (done) {
        over();
        return undefined;
      }
      const next = follow();
      next.catch(over); // The readers meet the error; here it only must not count as lost.
      return { piece: value, next };
    };
    const first = follow();
    first.catch(over);
    return first;
  }
}

/** The listener that `metrics.*` describe; undefined when it is off. */
export function createConfiguredMetrics(deps: {
  readonly config: Config;
  readonly metrics: ProcessMetrics;
  /** Asks the cluster who may scrape; used while `metrics.secure` is true. */
  readonly review: AskForReview;
  readonly clock: Clock;
  readonly logger: Logger;
}): MetricsListener | undefined {
  const { config, metrics, review, clock, logger } = deps;
  const address = config['metrics.bind-address'];
  if (address === 'off') return undefined;
  if (!config['metrics.secure']) return createMetricsListener({ address, secure: undefined, metrics, clock });

  const folder = config['metrics.cert-path'];
  const files =
    folder === undefined
      ? undefined
      : {
          certificatePath: join(folder, config['metrics.cert-name']),
          keyPath: join(folder, config['metrics.cert-key']),
        };
  const reviews = new ReviewCache({ review, clock, logger });
  return createMetricsListener({
    address,
    secure: { certificates: createCertificateSource({ files, clock, logger }), reviews },
    metrics,
    clock,
  });
}
