import { readFileSync } from 'node:fs';
import type { ErrorBody } from '@cronjob-monitor/shared/contract';
import { toPlainLine, isObject } from '@cronjob-monitor/shared/domain';
import { startTimeLimit } from '@cronjob-monitor/shared/process';
import { InputError, UsageError, type World } from './command.ts';

/** A running service, asked over its REST API. */
export interface Service {
  /** Throws `ServiceError` for every answer that is no success. The answer is of the type that the contract gives the path. */
  get<T>(path: string, query?: Query): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
}

type Query = Readonly<Record<string, string | number | readonly string[] | undefined>>;

/** The service refused, or did not answer. */
export class ServiceError extends InputError {
  /** Undefined when it did not answer. */
  readonly code: string | undefined;
  readonly reason: string | undefined;

  constructor(problem: string, error?: ErrorBody['error']) {
    super(problem);
    this.name = 'ServiceError';
    this.code = error?.code;
    this.reason = error?.details?.reason;
  }
}

const tokenVariable = 'CRONJOB_MONITOR_TOKEN';

/** The flags of every command that asks a service, and what `--help` says of them. */
export const serviceFlags = { server: 'text', 'token-file': 'text' } as const;
export const serviceUsage = `  --server URL       the running service, such as http://localhost:8080
  --token-file FILE  the first line of FILE is the bearer token; else ${tokenVariable} is, if it is set`;

const answerLimitMs = 30_000;
const maxAnswerBytes = 32 * 1024 * 1024;
const maxTokenBytes = 64 * 1024;

interface ServicePlace {
  readonly server: string | undefined;
  readonly 'token-file': string | undefined;
}

/** The service that the flags name. Throws `UsageError` without one. */
export function openService(place: ServicePlace, world: World): Service {
  if (place.server === undefined) throw new UsageError('which service? Give --server URL');
  const base = readBase(place.server);
  const token = readToken(place['token-file'], world);
  // One question or a few: no connection is kept for more.
  const headers = {
    accept: 'application/json',
    connection: 'close',
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const posted = body && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { ...headers, 'content-type': 'application/json' },
    };
    return exchange(`${base}/api/v1${path}`, { headers, ...posted }, world);
  };
  return {
    get: async <T>(path: string, query: Query = {}) => (await ask(path + queryText(query))) as T,
    post: async <T>(path: string, body: object) => (await ask(path, body)) as T,
  };
}

/** A path of the API with names in it. */
export function pathOf(strings: TemplateStringsArray, ...names: readonly string[]): string {
  return String.raw({ raw: strings }, ...names.map(encodeURIComponent));
}

function readBase(text: string): string {
  const problem = (what: string): UsageError =>
    new UsageError(`--server ${what}; allowed: a URL such as https://monitor.example.org`);
  if (!URL.canParse(text)) throw problem(`${JSON.stringify(text)} is no URL`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw problem(`has the scheme ${url.protocol}`);
  // What could be a secret is not repeated.
  if (url.username !== '' || url.password !== '') throw problem('has a user or a password in it');
  if (url.search !== '' || url.hash !== '') throw problem('has a query or a fragment');
  return `${url.origin}${url.pathname.replace(/\/+$/, '').replace(/\/api\/v1$/, '')}`;
}

/** Undefined: without. Throws `InputError` for a file that cannot be read, and for what is no token. */
function readToken(file: string | undefined, world: World): string | undefined {
  const token = file === undefined ? world.environment[tokenVariable] : readFirstLine(file);
  if (token === undefined) return undefined;
  const from = file === undefined ? tokenVariable : `--token-file ${file}`;
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new InputError(`${from} is no token: it is empty, or holds blanks or line ends`);
  return token;
}

function readFirstLine(file: string): string {
  try {
    const bytes = readFileSync(file);
    if (bytes.length > maxTokenBytes) throw new InputError(`--token-file ${file} is larger than 64 KiB`);
    return (bytes.toString('utf8').split(/\r?\n/, 1)[0] ?? '').trim();
  } catch (error) {
    if (error instanceof InputError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error';
    throw new InputError(`--token-file ${file} cannot be read: ${code}`);
  }
}

function queryText(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]): [string, string] => [name, String(value)])).toString()}`;
}

async function exchange(url: string, init: RequestInit, { clock }: World): Promise<unknown> {
  const limit = startTimeLimit(clock, answerLimitMs);
  const name = url.replace(/\?.*$/s, '');
  try {
    // A redirect would take the token to another server.
    const answer = await fetch(url, { ...init, signal: limit.signal, redirect: 'manual' });
    return readAnswer(name, answer.status, await readBody(name, answer));
  } catch (error) {
    if (error instanceof InputError) throw error;
    if (limit.passed) throw new ServiceError(`${name}: no answer within ${answerLimitMs / 1000} s`);
    throw new ServiceError(`${name}: cannot be reached: ${reasonOf(error)}`);
  } finally {
    limit.end();
  }
}

/** The text of an answer, read to its bound. */
async function readBody(name: string, answer: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of answer.body ?? []) {
    bytes += (piece as Uint8Array).length;
    if (bytes > maxAnswerBytes) throw new ServiceError(`${name}: the answer is larger than 32 MiB`);
    pieces.push(piece as Uint8Array);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function readAnswer(name: string, status: number, text: string): unknown {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    body = undefined; // Told below: it is no JSON.
  }
  if (status >= 300 && status < 400)
    throw new ServiceError(`${name}: answered ${status}; give the address it leads to`);
  if (!isObject(body))
    throw new ServiceError(`${name}: answered ${status}, and no JSON: is it the address of cronjob-monitor?`);
  // Health tells its state with 503 too.
  if (status < 300 || (status === 503 && 'storage' in body)) return body;
  const error = isObject(body['error']) ? (body as unknown as ErrorBody).error : undefined; // the one shape of refusals
  if (error === undefined) throw new ServiceError(`${name}: answered ${status}`);
  const details = (error.details?.problems ?? []).map(
    ({ field, message, allowed }) => `; ${field}: ${message}${allowed === null ? '' : `; allowed: ${allowed}`}`,
  );
  throw new ServiceError(`${name}: ${status} ${error.code}: ${toPlainLine(error.message)}${details.join('')}`, error);
}

const noAnswer = 'it did not answer in time';
const cut = 'the connection was cut';
const trustMore = 'NODE_EXTRA_CA_CERTS names a file with trusted ones';
const unknownAuthority = `its certificate is of no known authority; ${trustMore}`;

/** Codes of Node and OpenSSL in words. */
const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address',
  ECONNRESET: cut,
  EHOSTUNREACH: 'there is no way to this host',
  ENETUNREACH: 'there is no way to this network',
  ENOTFOUND: 'this host name is not known',
  EAI_AGAIN: 'the host name could not be looked up',
  ETIMEDOUT: noAnswer,
  UND_ERR_CONNECT_TIMEOUT: noAnswer,
  UND_ERR_SOCKET: cut,
  CERT_HAS_EXPIRED: 'its certificate has expired',
  DEPTH_ZERO_SELF_SIGNED_CERT: `its certificate is signed by itself; ${trustMore}`,
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another name',
};

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') {
    const { code } = cause;
    const words = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
    return words === undefined ? code : `${words} (${code})`;
  }
  return cause instanceof Error ? cause.message : 'unknown error';
}
