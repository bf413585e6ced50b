import { readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { presentWhoami } from './present.ts';
import { whoamiQuery } from './query.ts';

/**
 * @openapi
 * /whoami:
 *   get:
 *     tags: [Overview]
 *     operationId: getWhoami
 *     summary: Who calls, and what they may do
 *     x-query: [oneNamespace]
 *     x-answers: { 200: Whoami }
 *     x-refusals: [401]
 *     x-no-store: true
 */

/** GET /whoami: who calls, and what they may do. Open in every mode. */
export function whoamiRouter({ guard, authentication, settings }: RouteDeps): ApiRouter {
  return createRouter().get('/whoami', guard({}), async (ctx) => {
    const { namespace } = readQuery(ctx, whoamiQuery);
    const { caller, may } = await authentication.abilitiesOf(ctx.req, namespace);
    const { readOnly, defaultTimeZone } = settings;
    ctx.state.noStore = true;
    ctx.body = presentWhoami({ caller, may, namespace, readOnly, defaultTimeZone });
  });
}
