import { isUnsafe, type ApiMiddleware } from '../context.ts';
import { createApiRouter, type Route, type RouteDeps } from '../routes/index.ts';

/** Answers the paths of /api/v1 with what these routes are made of. A caller reads its own write. */
export function toAnswer(deps: RouteDeps, routes: readonly Route[]): ApiMiddleware {
  const forget = forgetAfterWrites(deps.answers, deps.fleet);
  const answer = createApiRouter(deps, routes).routes() as unknown as ApiMiddleware;
  return (ctx, next) => forget(ctx, () => answer(ctx, next));
}

/** Who changes something through this process sees it in its next answer. */
function forgetAfterWrites(...kept: readonly { forget(): void }[]): ApiMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } finally {
      if (isUnsafe(ctx.method)) for (const answers of kept) answers.forget();
    }
  };
}
