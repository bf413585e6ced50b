import type { ErrorBody } from '@cronjob-monitor/shared/contract';
import { timeLimit } from '../state/timer.ts';

/** What the server refused or could not do, in its own words. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly requestId: string | null;
  readonly retryAfterSeconds: number | null;
  readonly details: ErrorBody['error']['details'];

  constructor(of: {
    message: string;
    code: string;
    status: number;
    requestId: string | null;
    retryAfterSeconds?: number | null;
    details?: ErrorBody['error']['details'];
  }) {
    super(of.message);
    this.name = 'ApiError';
    this.code = of.code;
    this.status = of.status;
    this.requestId = of.requestId;
    this.retryAfterSeconds = of.retryAfterSeconds ?? null;
    this.details = of.details;
  }
}

/** An answer, and when the server gave it. `changed` is false when it is the one we had: nothing was sent. */
export interface Answer<T> {
  readonly value: T;
  readonly changed: boolean;
  /** The server's clock, epoch milliseconds; undefined: it did not say. */
  readonly servedAt: number | undefined;
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** The token of this tab, when the server asks for one. Kept in memory alone. */
let token: string | null = null;

export function useToken(value: string | null): void {
  token = value;
}

/** Who knows the clusters of the service. */
interface ClusterGuide {
  /** The one whose rows are shown; undefined: none is known, as of a service that shows one alone. */
  readonly shown: () => string | undefined;
  /** Finds out which there are. */
  readonly learn: () => Promise<void>;
}
const oneCluster: ClusterGuide = { shown: () => undefined, learn: () => Promise.resolve() };
let guide = oneCluster;

/** Every question and every order names the cluster that is shown when it is sent, but those that name their own. */
export function useClusters(by: ClusterGuide = oneCluster): void {
  guide = by;
}

const whenRefused = new Set<() => void>();

/** Hears when the server no longer takes our token, or asks for one. Returns what ends it. */
export function onTokenRefused(tell: () => void): () => void {
  whenRefused.add(tell);
  return () => whenRefused.delete(tell);
}

const known = new Map<string, { etag: string; value: unknown }>();
/** Answers kept for conditional requests; what was asked long ago is asked in full. */
const mostKnown = 60;
const longestMs = 20_000;

/** Asks for JSON; an unchanged answer is taken from memory. Throws `ApiError`; an abort throws its reason. */
export async function get<T>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer<T>> {
  const isOfAll = query['cluster'] === undefined && guide.shown() === undefined;
  const url = urlOf(path, query);
  const kept = known.get(url);
  const response = await send(url, { ...(kept && { headers: { 'if-none-match': kept.etag } }) }, signal);
  const servedAt = Date.parse(response.headers.get('date') ?? '') || undefined;
  if (response.status === 304 && kept) return { value: kept.value as T, changed: false, servedAt };
  const value = (await response.json()) as T;
  // The first list of a visit may tell that there are several clusters: its rows are of all of them, and one is shown.
  // Which one may have become known while it was on its way.
  if (isOfAll && namesClusters(value)) {
    if (guide.shown() === undefined) await guide.learn();
    if (guide.shown() !== undefined) return get(path, query, signal);
  }
  const etag = response.headers.get('etag');
  if (etag) remember(url, { etag, value });
  return { value, changed: true, servedAt };
}

/** Asks for something to be done. */
export async function act<T>(
  method: 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  query: Query = {},
): Promise<T> {
  const init: RequestInit = { method };
  if (body !== undefined) {
    init.headers = { 'content-type': 'application/json' };
    init.body = JSON.stringify(body);
  }
  return (await (await send(urlOf(path, query), init)).json()) as T;
}

/** A file made by the server, such as an export. */
export async function download(path: string, query: Query = {}): Promise<{ blob: Blob; name: string }> {
  const response = await send(urlOf(path, query), {});
  const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? 'download';
  return { blob: await response.blob(), name };
}

/** The stream of changes: read as it comes, since EventSource can send no token. */
export async function openStream(
  query: Query,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  const response = await send(
    urlOf('events/stream', query),
    { headers: { accept: 'text/event-stream', ...headers } },
    signal,
    null,
  );
  if (!response.body)
    throw new ApiError({
      message: 'The stream has no body',
      code: 'BAD_ANSWER',
      status: response.status,
      requestId: null,
    });
  return response.body;
}

/** The address of a part of the API. An empty `cluster` asks of all clusters. */
export function urlOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  const named = query['cluster'] === undefined ? { ...query, cluster: guide.shown() } : query;
  for (const [key, value] of Object.entries(named)) {
    if (value === undefined || value === '') continue;
    if (Array.isArray(value)) {
      if (value.length > 0) search.set(key, value.join(','));
    } else search.set(key, String(value));
  }
  const text = search.toString();
  return `/api/v1/${path}${text === '' ? '' : `?${text}`}`;
}

async function send(
  url: string,
  init: RequestInit,
  signal?: AbortSignal,
  limitMs: number | null = longestMs,
): Promise<Response> {
  const headers = new Headers(init.headers);
  if (!headers.has('accept')) headers.set('accept', 'application/json');
  if (token !== null) headers.set('authorization', `Bearer ${token}`);
  const signals = [signal, limitMs === null ? undefined : timeLimit(limitMs)].filter((one) => one !== undefined);
  let response: Response;
  try {
    response = await fetch(url, { ...init, headers, signal: AbortSignal.any(signals) });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError({ message: 'The server does not answer', code: 'UNREACHABLE', status: 0, requestId: null });
  }
  // Health answers 503 with its ordinary body: what is wrong is what was asked for.
  const isHealth = url.startsWith('/api/v1/health');
  if (response.ok || response.status === 304 || (isHealth && response.status === 503)) return response;
  // The listener asks who we are: that question's own refusal is its answer.
  if (response.status === 401 && !url.startsWith('/api/v1/whoami')) for (const tell of whenRefused) tell();
  throw await toError(response);
}

async function toError(response: Response): Promise<ApiError> {
  const requestId = response.headers.get('x-request-id');
  const retryAfterSeconds = Number(response.headers.get('retry-after')) || null;
  try {
    const { error } = (await response.json()) as ErrorBody;
    return new ApiError({
      ...error,
      status: response.status,
      requestId: error.requestId ?? requestId,
      retryAfterSeconds,
    });
  } catch {
    return new ApiError({
      message: `The server answered ${response.status}`,
      code: 'BAD_ANSWER',
      status: response.status,
      requestId,
      retryAfterSeconds,
    });
  }
}

function namesClusters(value: unknown): boolean {
  const items = typeof value === 'object' && value !== null && 'items' in value ? value.items : undefined;
  return (
    Array.isArray(items) &&
    items.some((item: unknown) => typeof item === 'object' && item !== null && 'cluster' in item)
  );
}

function remember(url: string, answer: { etag: string; value: unknown }): void {
  known.delete(url);
  known.set(url, answer);
  while (known.size > mostKnown) known.delete(known.keys().next().value ?? '');
}
