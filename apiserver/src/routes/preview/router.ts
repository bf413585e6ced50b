import {
  LimitSuggestions,
  MonitorPreview,
  MonitorPreviewInput,
  MonitorRefInput,
  refText,
} from '@cronjob-monitor/shared/contract';
import type { PreviewWish } from '../../actions/index.ts';
import type { ApiContext } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { permitIn, callerOf, namespacesOf } from '../../middleware/guard.ts';
import { isObjectName } from '../../object-name.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';

const mostDays = 30;

const mayPreview = { ability: 'preview', asksLater: true, costly: true, harmless: true } as const;

/** What would it do? Runs the detectors on stored runs, and writes nothing. */
export const previewRoutes = [
  route(
    {
      method: 'POST',
      path: '/monitors/preview',
      tag: 'Monitors',
      id: 'previewMonitor',
      says: 'What would a monitor with this spec have said of the history that is stored?',
      ...mayPreview,
      body: MonitorPreviewInput,
      answer: MonitorPreview,
    },
    async ({ deps, ctx, body: { namespace, spec, name, days = mostDays } }) => {
      const may = await permit(deps, ctx, namespace);
      return deps.actions.previewMonitor({ namespace, spec, name, days, ...may });
    },
  ),
  route(
    {
      method: 'POST',
      path: '/monitors/suggest',
      tag: 'Monitors',
      id: 'suggestLimits',
      says: 'Which limits would the stored runs of this monitor keep?',
      ...mayPreview,
      body: MonitorRefInput,
      answer: LimitSuggestions,
      refusals: [404],
    },
    async ({ deps, ctx, body: { namespace, name } }) => {
      const found = await deps.actions.suggestLimits({ namespace, name, ...(await permit(deps, ctx, namespace)) });
      if (!found) throw notFound('CronJobMonitor', refText({ namespace, name }), 'neverSeen');
      return found;
    },
  ),
];

/** Throws FORBIDDEN. A monitor may select CronJobs of other namespaces: what the caller may not read is left out. */
async function permit(
  { authentication }: RouteDeps,
  ctx: ApiContext,
  namespace: string,
): Promise<Pick<PreviewWish, 'readable' | 'mayReadMonitor' | 'mayListChannels'>> {
  if (!isObjectName(namespace))
    throw invalidRequest([
      { in: 'body', field: 'namespace', message: 'is not the name of a namespace', allowed: 'a name' },
    ]);
  await permitIn(ctx, namespace);
  const caller = callerOf(ctx);
  return {
    readable: await namespacesOf(authentication, ctx, 'read'),
    mayListChannels: await authentication.may(caller, 'readChannels', {}),
    mayReadMonitor: await authentication.may(caller, 'readMonitors', { namespace }),
  };
}
