import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';

/**
 * @openapi
 * /config:
 *   get:
 *     tags: [Administration]
 *     operationId: getConfig
 *     summary: The configuration in effect, sensitive values replaced
 *     x-ability: readConfig
 *     x-answers: { 200: Config }
 */

/** GET /config: the effective configuration of the process that answers, sensitive values replaced. */
export function configRouter({ guard, settings, store }: RouteDeps): ApiRouter {
  return createRouter().get('/config', guard({ ability: 'readConfig' }), async (ctx) => {
    readQuery(ctx, {});
    await store.probe(); // without its database this process answers for nothing but its health
    ctx.body = settings.configView;
  });
}
