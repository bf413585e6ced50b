import { createHash } from 'node:crypto';
import type { ApiMiddleware, Rendered } from '../context.ts';

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

/** Of answers that several requests share: made into text once. */
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
