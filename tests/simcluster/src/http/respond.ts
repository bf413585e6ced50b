import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { ApiError } from './api-error.ts';
import { endWith, startResponse, type ServerRequestLike, type ServerResponseLike } from './connection.ts';
import { readMediaTypes } from './media-type.ts';
import { printYaml } from './yaml.ts';

/** Shorter answers are not worth compressing. */
const compressFromBytes = 128 * 1024;
const plainText = 'text/plain; charset=utf-8';
const compress = promisify(gzip);

interface Reply {
  readonly code: number;
  /** An object is written as JSON, text as it is. */
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly warnings?: readonly string[] | undefined;
  readonly yaml?: boolean;
  readonly contentType?: string;
}

/** Writes an answer, compressed when it is large and the client takes it so. */
export async function respond(request: ServerRequestLike, response: ServerResponseLike, reply: Reply): Promise<void> {
  const text = bodyText(reply);
  const headers: Record<string, string> = {
    'cache-control': 'no-cache, private',
    'content-type': contentTypeOf(reply),
    ...reply.headers,
  };
  const warnings = (reply.warnings ?? []).map((warning) => `299 - ${JSON.stringify(warning)}`);
  if (warnings.length > 0) headers['warning'] = warnings.join(', ');
  let payload = Buffer.from(text);
  if (request.method === 'GET' && payload.length >= compressFromBytes && takesGzip(request)) {
    payload = await compress(payload, { level: 1 });
    headers['content-encoding'] = 'gzip';
    headers['vary'] = 'Accept-Encoding';
  }
  headers['content-length'] = String(payload.length);
  if (reply.code === 204) {
    delete headers['content-type'];
    delete headers['content-length'];
  }
  if (response.destroyed) return;
  startResponse(response, reply.code, headers);
  if (request.method === 'HEAD' || reply.code === 204) endWith(response);
  else endWith(response, payload);
}

function bodyText(reply: Reply): string {
  if (typeof reply.body === 'string') return reply.body;
  return reply.yaml === true ? printYaml(reply.body) : `${JSON.stringify(reply.body)}\n`;
}

function contentTypeOf(reply: Reply): string {
  if (reply.contentType !== undefined) return reply.contentType;
  if (typeof reply.body === 'string') return plainText;
  return reply.yaml === true ? 'application/yaml' : 'application/json';
}

function takesGzip(request: ServerRequestLike): boolean {
  const accepted = request.headers['accept-encoding'];
  return readMediaTypes(typeof accepted === 'string' ? accepted : '').some((one) => one.type === 'gzip');
}

/** An error as the answer to its request. Anything that is no answer by itself is an internal error. */
export function replyOf(error: unknown): Reply {
  if (error instanceof ApiError) return { code: error.code, body: error.body, headers: error.headers };
  const message = `Internal error occurred: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'InternalError',
    code: 500,
  };
  return { code: 500, body };
}
