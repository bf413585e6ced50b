import { isApiPath, matchedMethods, type ApiMiddleware } from '../context.ts';
import { methodNotAllowed, noSuchRoute } from '../errors.ts';

/**
 * Answers what no handler answered: 405 with the methods of a known path, 204 for its OPTIONS, and 404 in JSON for every
 * unknown path below /api. Other paths go on to the user interface.
 */
export function routeAnswer(): ApiMiddleware {
  return async (ctx, next) => {
    const methods = matchedMethods(ctx);
    if (methods.length > 0) {
      const allowed = [...methods, 'OPTIONS'];
      if (ctx.method !== 'OPTIONS') throw methodNotAllowed(ctx.method, allowed);
      ctx.status = 204;
      ctx.set('Allow', allowed.join(', '));
      return;
    }
    if (isApiPath(ctx.path)) throw noSuchRoute();
    await next();
  };
}
