import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import compress from 'koa-compress';
import type { ApiContext, ApiMiddleware } from '../context.ts';

/** Smaller answers fit a packet as they are. */
const threshold = 1024;
const brotliQuality = 4;

/** Compresses answers of more than a packet, when the client can read it. Event streams are left alone. */
export function compression(): ApiMiddleware {
  const pack = compress({
    threshold,
    filter: (type) => /^(application\/(json|javascript|manifest\+json)|text\/(?!event-stream)|image\/svg)/.test(type),
    br: { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } },
  }) as ApiMiddleware;
  return (ctx, next) =>
    pack(ctx, async () => {
      await next();
      await sendPacked(ctx);
    });
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
