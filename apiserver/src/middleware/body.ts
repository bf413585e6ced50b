import type { IncomingMessage } from 'node:http';
import type { ApiContext } from '../context.ts';
import { invalidRequest, payloadTooLarge, unsupportedMediaType } from '../errors.ts';

/** Bytes of a request body. */
export const maxBodyBytes = 1024 * 1024;

/**
 * Reads the body within its limit and accepts JSON alone. What it says is looked at later, when the caller is known; an
 * empty body needs no Content-Type.
 */
export async function readBodyText(ctx: ApiContext): Promise<void> {
  const bytes = await readBytes(ctx.req);
  if (bytes.length === 0) return;
  if (!isPlainJson(ctx.req.headers)) throw unsupportedMediaType();
  ctx.state.bodyText = toText(bytes);
}

async function readBytes(request: IncomingMessage): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > maxBodyBytes) throw payloadTooLarge(maxBodyBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBodyBytes) break;
      chunks.push(chunk);
    }
  } catch {
    // The client went away in the middle: nobody reads the answer, and nothing has happened.
    throw invalidRequest([{ in: 'body', field: '', message: 'ended before it was complete', allowed: null }]);
  }
  if (size > maxBodyBytes) throw payloadTooLarge(maxBodyBytes);
  return Buffer.concat(chunks);
}

function isPlainJson(headers: IncomingMessage['headers']): boolean {
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity') return false;
  const [type = '', ...parameters] = (headers['content-type'] ?? '').toLowerCase().split(';');
  return (
    type.trim() === 'application/json' &&
    parameters.every((parameter) => /^\s*(charset\s*=\s*"?utf-?8"?)?\s*$/.test(parameter))
  );
}

function toText(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw invalidRequest([{ in: 'body', field: '', message: 'is no UTF-8', allowed: null }]);
  }
}
