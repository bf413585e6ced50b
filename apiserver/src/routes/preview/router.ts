import * as yup from 'yup';
import type { PreviewWish } from '../../actions/index.ts';
import type { ApiContext } from '../../context.ts';
import { internalError, invalidRequest, notFound } from '../../errors.ts';
import { permitIn } from '../../middleware/guard.ts';
import { readBody, readQuery } from '../../middleware/validate.ts';
import { isObjectName } from '../../object-name.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { text, wholeNumber } from '../query.ts';

const previewBody = yup.object({
  namespace: text(63).required('is required'),
  // Its fields are read as the controller reads them, one by one: what is wrong with one is a finding.
  spec: yup.mixed<Readonly<Record<string, unknown>>>(isObject).typeError('must be an object').required('is required'),
  name: text(253),
  days: wholeNumber(1, 30),
});

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * @openapi
 * /monitors/preview:
 *   post:
 *     tags: [Monitors]
 *     operationId: previewMonitor
 *     summary: What would a monitor with this spec have said of the history that is stored?
 *     x-ability: preview
 *     x-body: MonitorPreviewInput
 *     x-answers: { 200: MonitorPreview }
 *     x-refusals: [429]
 * /monitors/suggest:
 *   post:
 *     tags: [Monitors]
 *     operationId: suggestLimits
 *     summary: Which limits would the stored runs of this monitor keep?
 *     x-ability: preview
 *     x-body: MonitorRefInput
 *     x-answers: { 200: LimitSuggestions }
 *     x-refusals: [404, 429]
 */

const mostDays = 30;

const suggestBody = yup.object({
  namespace: text(63).required('is required'),
  name: text(253).required('is required'),
});

/** What would it do? Runs the detectors on stored runs, and writes nothing. */
export function previewRouter({ guard, actions, authentication }: RouteDeps): ApiRouter {
  const mayPreview = guard({ ability: 'preview', asksLater: true, costly: true, harmless: true });
  /** Throws FORBIDDEN. A monitor may select CronJobs of other namespaces: what the caller may not read is left out. */
  const permit = async (
    ctx: ApiContext,
    namespace: string,
  ): Promise<Pick<PreviewWish, 'readable' | 'mayReadMonitor' | 'mayListChannels'>> => {
    if (!isObjectName(namespace))
      throw invalidRequest([
        { in: 'body', field: 'namespace', message: 'is not the name of a namespace', allowed: 'a name' },
      ]);
    await permitIn(ctx, namespace);
    const { caller } = ctx.state;
    if (!caller) throw internalError(new Error('the request has no caller'));
    return {
      readable: (await authentication.reach(caller, 'read', [])).within([]),
      mayListChannels: await authentication.may(caller, 'readChannels', {}),
      mayReadMonitor: await authentication.may(caller, 'readMonitors', { namespace }),
    };
  };
  return createRouter()
    .post('/monitors/preview', mayPreview, async (ctx) => {
      readQuery(ctx, {});
      const { namespace, spec, name, days = mostDays } = readBody(ctx, previewBody);
      const may = await permit(ctx, namespace);
      ctx.body = await actions.previewMonitor({ namespace, spec, name, days, ...may });
    })
    .post('/monitors/suggest', mayPreview, async (ctx) => {
      readQuery(ctx, {});
      const { namespace, name } = readBody(ctx, suggestBody);
      const found = await actions.suggestLimits({ namespace, name, ...(await permit(ctx, namespace)) });
      if (!found) throw notFound('CronJobMonitor', `${namespace}/${name}`, 'neverSeen');
      ctx.body = found;
    });
}
