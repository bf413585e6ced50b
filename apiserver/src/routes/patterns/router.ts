import { readBody, readQuery } from '../../middleware/validate.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { readPatternQuestion } from './pattern-question.ts';
import { patternBody } from './query.ts';

/**
 * @openapi
 * /patterns/test:
 *   post:
 *     tags: [Alerts]
 *     operationId: testPattern
 *     summary: Would a pattern of suggested fixes apply?
 *     x-ability: testPattern
 *     x-body: PatternTestInput
 *     x-answers: { 200: PatternTestResult }
 *     x-refusals: [429]
 */

/** Would this pattern of suggested fixes apply to a run like this? Only this pattern is tried. */
export function patternsRouter({ guard, actions }: RouteDeps): ApiRouter {
  return createRouter().post(
    '/patterns/test',
    guard({ ability: 'testPattern', costly: true, harmless: true }),
    async (ctx) => {
      readQuery(ctx, {});
      ctx.body = await actions.testPattern(readPatternQuestion(readBody(ctx, patternBody)));
    },
  );
}
