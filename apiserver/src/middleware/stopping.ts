import type { ApiMiddleware } from '../context.ts';
import { shuttingDown } from '../errors.ts';

/** Takes no new requests once stopping, and lets go of the connections of those being answered. */
export function refuseWhenStopping(isStopping: () => boolean): ApiMiddleware {
  return async (ctx, next) => {
    if (isStopping()) throw shuttingDown();
    await next();
    if (isStopping()) ctx.set('Connection', 'close');
  };
}
