import { randomBytes } from 'node:crypto';
import type { ApiMiddleware } from '../context.ts';

const acceptable = /^[A-Za-z0-9._-]{1,64}$/;

/** Names each request: one sent by the client is kept when it is harmless, and every answer carries it. */
export function requestId(): ApiMiddleware {
  return async (ctx, next) => {
    const sent = ctx.get('X-Request-Id');
    ctx.state.requestId = acceptable.test(sent) ? sent : newRequestId();
    ctx.set('X-Request-Id', ctx.state.requestId);
    await next();
  };
}

export function newRequestId(): string {
  return randomBytes(9).toString('base64url');
}
