import type { Ref } from '@cronjob-monitor/shared/contract';
import type { FixPattern } from '@cronjob-monitor/shared/domain';
import { findMonitor } from '@cronjob-monitor/shared/store';
import { missingRight, questionOf } from '../../auth/permission.ts';
import type { ApiContext } from '../../context.ts';
import { forbidden, internalError, notFound } from '../../errors.ts';
import { readBody, readQuery } from '../../middleware/validate.ts';
import { fixPatternsOf } from '../../monitor-spec.ts';
import { isObjectName } from '../../object-name.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { readPatternQuestion } from './pattern-question.ts';
import { patternBody } from './query.ts';

/**
 * @openapi
 * /patterns/test:
 *   post:
 *     tags: [Alerts]
 *     operationId: testPattern
 *     summary: Would a pattern of suggested fixes apply, and which one of a monitor's?
 *     x-ability: testPattern
 *     x-body: PatternTestInput
 *     x-answers: { 200: PatternTestResult }
 *     x-refusals: [404, 429]
 */

/** Would this pattern of suggested fixes apply to a run like this, alone or among those of a monitor? */
export function patternsRouter(deps: RouteDeps): ApiRouter {
  const { guard, actions } = deps;
  return createRouter().post(
    '/patterns/test',
    guard({ ability: 'testPattern', costly: true, harmless: true }),
    async (ctx) => {
      readQuery(ctx, {});
      const body = readBody(ctx, patternBody);
      const question = readPatternQuestion(body);
      const ofMonitor = body.monitor && (await patternsOf(deps, ctx, body.monitor));
      ctx.body = await actions.testPattern({ ...question, ofMonitor });
    },
  );
}

/** Throws FORBIDDEN to who may not read the monitor, NOT_FOUND. */
async function patternsOf(
  { store, authentication }: RouteDeps,
  ctx: ApiContext,
  ref: Ref,
): Promise<readonly FixPattern[]> {
  const { caller } = ctx.state;
  if (!caller) throw internalError(new Error('the request has no caller'));
  const { namespace, name } = ref;
  const path = `${namespace}/${name}`;
  if (!isObjectName(namespace) || !isObjectName(name)) throw notFound('CronJobMonitor', path, 'neverSeen');
  const question = questionOf('readMonitors', { namespace });
  if (question && !(await authentication.may(caller, 'readMonitors', { namespace }))) {
    const missing = missingRight(question);
    throw forbidden(missing.verb, missing.resource, missing.namespace);
  }
  const { monitor, wasDeleted } = await findMonitor(store, { namespace, name });
  if (!monitor) throw notFound('CronJobMonitor', path, wasDeleted ? 'deleted' : 'neverSeen');
  return fixPatternsOf(monitor.spec);
}
