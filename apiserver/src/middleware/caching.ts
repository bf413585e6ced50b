import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import compress from 'koa-compress';
import type { ApiMiddleware, Rendered, ApiContext } from '../context.ts';

/**
 * Decides what may be kept: a JSON answer to a read has a weak ETag and must be asked for again, everything else is not
 * stored at all. Files of the user interface bring their own rule.
 */
export function caching(options: { readonly authenticated: boolean }): ApiMiddleware {
  const rule = options.authenticated ? 'private, no-cache' : 'no-cache';
  return async (ctx, next) => {
    await next();
    if (ctx.response.get('Cache-Control')) return;
    const body: unknown = ctx.body;
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || ctx.status !== 200 || ctx.state.noStore || !isPlain(body)) {
      ctx.set('Cache-Control', 'no-store');
      return;
    }
    const answer = render(body);
    ctx.set('Cache-Control', rule);
    ctx.set('ETag', answer.etag);
    ctx.state.rendered = answer;
    ctx.body = answer.text;
    ctx.type = 'application/json';
    if (ctx.fresh) ctx.status = 304;
  };
}

/** Texts of answers that several requests share. */
const renderedOf = new WeakMap<object, Rendered>();

function render(body: object): Rendered {
  const before = renderedOf.get(body);
  if (before) {
    before.uses++;
    return before;
  }
  const text = JSON.stringify(body);
  const etag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
  const rendered = { text, etag, uses: 1, packed: new Map<string, Promise<Buffer>>() };
  renderedOf.set(body, rendered);
  return rendered;
}

function isPlain(body: unknown): body is object {
  return (
    typeof body === 'object' &&
    body !== null &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(body))
  );
}

/** Smaller answers fit a packet as they are. */
const threshold = 1024;
const brotliQuality = 4;
/** A browser keeps a file for ever: that it is smaller is worth half as much work again, once. */
const fileQuality = 6;

/** Compresses answers of more than a packet, when the client can read it. Event streams are left alone. */
export function compression(): ApiMiddleware {
  const packs = (quality: number, more: object = {}): ApiMiddleware =>
    compress({
      threshold,
      filter: (type) => /^(application\/(json|javascript|manifest\+json)|text\/(?!event-stream)|image\/svg)/.test(type),
      br: { params: { [constants.BROTLI_PARAM_QUALITY]: quality } },
      ...more,
    }) as ApiMiddleware;
  const packAnswer = packs(brotliQuality);
  // The fastest codec makes the largest files, and browsers name it among those that they read.
  const packFile = packs(fileQuality, { zstd: false, gzip: { level: 9 } });
  return (ctx, next) => {
    // A client that accepts no encoding, not even identity, gets plain text: koa-compress would name an encoding that it did not use.
    if (ctx.acceptsEncodings(...Object.keys(encodings), 'identity') === false) return next();
    const pack = ctx.path.startsWith('/assets/') ? packFile : packAnswer;
    return pack(ctx, async () => {
      await next();
      await sendPacked(ctx);
    });
  };
}

const encodings: Readonly<Record<string, (text: string) => Promise<Buffer>>> = {
  br: (text) => promisify(brotliCompress)(text, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (text) => promisify(gzip)(text),
};

/** An answer that several requests share is compressed once for all of them. */
async function sendPacked(ctx: ApiContext): Promise<void> {
  const { rendered } = ctx.state;
  if (!rendered || rendered.uses === 1 || ctx.status !== 200 || ctx.method === 'HEAD') return;
  if (rendered.text.length < threshold) return;
  const wanted = ctx.acceptsEncodings(...Object.keys(encodings), 'identity');
  const encode = wanted === false ? undefined : encodings[wanted];
  if (wanted === false || !encode) return;
  let packed = rendered.packed.get(wanted);
  if (!packed) {
    packed = encode(rendered.text);
    rendered.packed.set(wanted, packed);
  }
  ctx.body = await packed;
  ctx.type = 'application/json';
  ctx.set('Content-Encoding', wanted);
}
