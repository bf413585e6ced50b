import { Router } from '@koa/router';
import type { ApiContext, ApiState } from '../context.ts';
import { invalidRequest } from '../errors.ts';
import document from './openapi.json' with { type: 'json' };

/**
 * @openapi
 * /openapi.json:
 *   get:
 *     tags: [Overview]
 *     operationId: getOpenApi
 *     summary: This contract
 *     x-answers: { 200: object }
 */

/** This contract, as it was written by scripts/openapi.mjs from the comments of the routers. */
export function openApiRouter(): Router<ApiState, Pick<ApiContext, 'params'>> {
  return new Router<ApiState, Pick<ApiContext, 'params'>>({ prefix: '/api/v1', strict: true, sensitive: true }).get(
    '/openapi.json',
    async (ctx) => {
      const [field] = new URLSearchParams(ctx.querystring).keys();
      if (field !== undefined) {
        throw invalidRequest([{ in: 'query', field, message: 'is not a parameter of this endpoint', allowed: 'none' }]);
      }
      ctx.body = document;
    },
  );
}
