import { type Ability, AcknowledgeResult, AlertDetail, AcknowledgeInput } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { StoredAlert } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { internalError, invalidRequest } from '../../errors.ts';
import { permitIn } from '../../middleware/guard.ts';
import { readInstant } from '../../middleware/instant.ts';
import { authorOf } from '../author.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { getAlert, presentOneAlert, readAlertDetail } from './detail.ts';

/** One alert with its history, and its acknowledgement. */
export const alertRoutes = [
  route(
    {
      method: 'GET',
      path: '/alerts/:id',
      tag: 'Alerts',
      id: 'getAlert',
      says: 'One alert, open or in history, with its messages and why it was told or not',
      ability: 'read',
      asksLater: true,
      answer: AlertDetail,
    },
    async ({ deps, ctx }) => {
      const alert = await findPermitted(deps, ctx);
      return readAlertDetail(deps, alert, {
        withheld: !(await may(deps, ctx, 'readLogs', alert.cronJob.namespace)),
        mayRead: (namespace) => may(deps, ctx, 'read', namespace),
      });
    },
  ),
  route(
    {
      method: 'POST',
      path: '/alerts/:id/acknowledge',
      tag: 'Alerts',
      id: 'acknowledgeAlert',
      says: 'Takes note of an open alert, in place of an earlier note',
      ability: 'acknowledge',
      elsewhere: true,
      asksLater: true,
      body: AcknowledgeInput,
      optionalBody: true,
      answer: AcknowledgeResult,
      refusals: [409],
    },
    async ({ deps, ctx, body: { note, expiresAt: until, by } }) => {
      const { store, actions } = deps;
      const expiresAt = until === undefined ? undefined : readFuture(until, store.now());
      ctx.state.comment = note ?? '';
      const { id } = await findPermitted(deps, ctx);
      // An empty note says nothing.
      await actions.acknowledge({ alertId: id, by: authorOf(ctx, by), note: note || undefined, expiresAt });
      return presentResult(deps, id, 'Acknowledged');
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/alerts/:id/acknowledge',
      tag: 'Alerts',
      id: 'unacknowledgeAlert',
      says: 'Takes the acknowledgement back; answers 200 too when there is none',
      ability: 'acknowledge',
      elsewhere: true,
      asksLater: true,
      answer: AcknowledgeResult,
      refusals: [409],
    },
    async ({ deps, ctx }) => {
      const { actions } = deps;
      const { id } = await findPermitted(deps, ctx);
      const wasThere = await actions.unacknowledge(id, authorOf(ctx));
      return presentResult(deps, id, wasThere ? 'The acknowledgement was taken back' : 'There was no acknowledgement');
    },
  ),
];

/** Its path names no namespace: the alert does. */
async function findPermitted({ store }: RouteDeps, ctx: ApiContext): Promise<StoredAlert> {
  const alert = await getAlert(store, ctx.params['id'] ?? '');
  await permitIn(ctx, alert.cronJob.namespace);
  return alert;
}

async function may(
  { authentication }: RouteDeps,
  ctx: ApiContext,
  ability: Ability,
  namespace: string,
): Promise<boolean> {
  const { caller } = ctx.state;
  if (!caller) throw internalError(new Error('the request has no caller'));
  return authentication.may(caller, ability, { namespace });
}

async function presentResult(deps: RouteDeps, id: string, message: string): Promise<AcknowledgeResult> {
  return { success: true, message, alert: await presentOneAlert(deps, await getAlert(deps.store, id)) };
}

/** An instant of a body that is still to come. Throws INVALID_REQUEST. */
export function readFuture(text: string, now: Instant): Instant {
  const reading = readInstant(text);
  if ('at' in reading && reading.at > now) return reading.at;
  const message = 'problem' in reading ? reading.problem : 'must be in the future';
  const allowed = 'RFC 3339 such as 2026-11-21T06:52:00Z, or a date';
  throw invalidRequest([{ in: 'body', field: 'expiresAt', message, allowed }]);
}
