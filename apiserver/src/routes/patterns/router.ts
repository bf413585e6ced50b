import { type Ref, PatternTestInput, PatternTestResult } from '@cronjob-monitor/shared/contract';
import type { FixPattern } from '@cronjob-monitor/shared/domain';
import { findMonitor } from '@cronjob-monitor/shared/store';
import { missingRight, questionOf } from '../../auth/permission.ts';
import type { ApiContext } from '../../context.ts';
import { forbidden, internalError, notFound } from '../../errors.ts';
import { fixPatternsOf } from '../../monitor-spec.ts';
import { isObjectName } from '../../object-name.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { readPatternQuestion } from './pattern-question.ts';

/** Would this pattern of suggested fixes apply to a run like this, alone or among those of a monitor? */
export const patternsRoutes = [
  route(
    {
      method: 'POST',
      path: '/patterns/test',
      tag: 'Alerts',
      id: 'testPattern',
      says: "Would a pattern of suggested fixes apply, and which one of a monitor's?",
      ability: 'testPattern',
      costly: true,
      harmless: true,
      body: PatternTestInput,
      answer: PatternTestResult,
      refusals: [404],
    },
    async ({ deps, ctx, body }) => {
      const question = readPatternQuestion(body);
      const ofMonitor = body.monitor && (await patternsOf(deps, ctx, body.monitor));
      return deps.actions.testPattern({ ...question, ofMonitor });
    },
  ),
];

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
