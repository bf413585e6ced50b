import type { ApiMiddleware } from '../context.ts';
import { forgetAfterWrites } from '../middleware/forget-after-writes.ts';
import { documentedRoutes } from '../openapi/index.ts';
import { createApiRouter, type Route, type RouteDeps } from '../routes/index.ts';

/** Answers the paths of /api/v1 with what these routes are made of. A caller reads its own write. */
export function toAnswer(deps: RouteDeps, routes: readonly Route[] = documentedRoutes): ApiMiddleware {
  const forget = forgetAfterWrites(deps.answers, deps.fleet);
  const answer = createApiRouter(deps, routes).routes() as unknown as ApiMiddleware;
  return (ctx, next) => forget(ctx, () => answer(ctx, next));
}
