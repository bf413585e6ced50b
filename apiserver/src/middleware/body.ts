import { bodyParser } from '@koa/bodyparser';
import type { Middleware } from 'koa';
import type { ApiContext } from '../context.ts';
import { invalidRequest, payloadTooLarge, unsupportedMediaType } from '../errors.ts';

/** Bytes of a request body. */
export const maxBodyBytes = 1024 * 1024;

/** Reads a body as text, one character a byte: what is no UTF-8 is still to be told from what is. */
const readText = bodyParser({
  parsedMethods: ['POST', 'PUT', 'PATCH', 'DELETE'],
  enableTypes: ['text'],
  extendTypes: { text: ['application/json'] },
  textLimit: `${maxBodyBytes}b`,
  encoding: 'latin1',
  onError: (error) => {
    if ('type' in error && error.type === 'entity.too.large') throw payloadTooLarge(maxBodyBytes);
    throw incomplete();
  },
}) as Middleware;

/**
 * Reads the body within its limit and accepts JSON alone. What it says is looked at later, when the caller is known; an
 * empty body needs no Content-Type.
 */
export async function readBodyText(ctx: ApiContext): Promise<void> {
  if (ctx.request.length === 0 || ctx.is() === null) return;
  if (Number(ctx.request.length) > maxBodyBytes) throw payloadTooLarge(maxBodyBytes);
  if (!isPlainJson(ctx)) throw unsupportedMediaType();
  await readText(ctx as unknown as Parameters<Middleware>[0], async () => {});
  const { rawBody } = ctx.request;
  if (rawBody === undefined) throw incomplete(); // The client left before a byte of it was read.
  if (rawBody !== '') ctx.state.bodyText = toText(Buffer.from(rawBody, 'latin1'));
}

/** The client went away in the middle: it reads no answer, and nothing has happened. */
function incomplete(): Error {
  return invalidRequest([{ in: 'body', field: '', message: 'ended before it was complete', allowed: null }]);
}

function isPlainJson(ctx: ApiContext): boolean {
  const encoding = ctx.get('Content-Encoding').toLowerCase() || 'identity';
  return encoding === 'identity' && ctx.is('application/json') !== false && /^(utf-?8)?$/i.test(ctx.request.charset);
}

function toText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest([{ in: 'body', field: '', message: 'is no UTF-8', allowed: null }]);
  }
}
