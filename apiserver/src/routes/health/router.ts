import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { gatherHealth } from './gather.ts';
import { presentHealth } from './present.ts';

/**
 * @openapi
 * /health:
 *   get:
 *     tags: [Overview]
 *     operationId: getHealth
 *     summary: How the service is; 503 with the same body when it cannot serve
 *     x-answers: { 200: Health, 503: Health }
 *     x-no-store: true
 */

/** GET /health: 503 with the same body when unhealthy, never an error body. Open in every mode. */
export function healthRouter(deps: RouteDeps): ApiRouter {
  return createRouter().get('/health', deps.guard({}), async (ctx) => {
    readQuery(ctx, {});
    const health = presentHealth(await gatherHealth(deps), deps.settings, deps.process);
    ctx.state.noStore = true;
    ctx.status = health.status === 'unhealthy' ? 503 : 200;
    ctx.body = health;
  });
}
