import type { Ability, AcknowledgeResult } from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import type { StoredAlert } from '@cronjob-monitor/shared/store';
import * as yup from 'yup';
import type { ApiContext } from '../../context.ts';
import { internalError, invalidRequest } from '../../errors.ts';
import { permitIn } from '../../middleware/guard.ts';
import { readInstant } from '../../middleware/instant.ts';
import { readBody, readNoBody, readQuery } from '../../middleware/validate.ts';
import { authorOf } from '../author.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { getAlert, presentOneAlert, readAlertDetail } from './detail.ts';
import { anyText, text } from '../query.ts';

const acknowledgeBody = yup.object({ note: anyText(500), expiresAt: anyText(64), by: text(100) });

const one = '/alerts/:id';

/**
 * @openapi
 * /alerts/{id}:
 *   get:
 *     tags: [Alerts]
 *     operationId: getAlert
 *     summary: One alert, open or in history, with its messages and why it was told or not
 *     x-ability: read
 *     x-answers: { 200: AlertDetail }
 *     x-refusals: [404]
 * /alerts/{id}/acknowledge:
 *   post:
 *     tags: [Alerts]
 *     operationId: acknowledgeAlert
 *     summary: Takes note of an open alert, in place of an earlier note
 *     x-ability: acknowledge
 *     x-body: AcknowledgeInput
 *     x-optional-body: true
 *     x-answers: { 200: AcknowledgeResult }
 *     x-refusals: [404, 409]
 *   delete:
 *     tags: [Alerts]
 *     operationId: unacknowledgeAlert
 *     summary: Takes the note back; also when there is none
 *     x-ability: acknowledge
 *     x-answers: { 200: AcknowledgeResult }
 *     x-refusals: [404, 409]
 */

/** One alert with its history, and its acknowledgement. */
export function alertRouter(deps: RouteDeps): ApiRouter {
  const { guard, store, actions } = deps;
  return createRouter()
    .get(one, guard({ ability: 'read', asksLater: true }), async (ctx) => {
      readQuery(ctx, {});
      const alert = await findPermitted(deps, ctx);
      ctx.body = await readAlertDetail(deps, alert, {
        withheld: !(await may(deps, ctx, 'readLogs', alert.cronJob.namespace)),
        mayRead: (namespace) => may(deps, ctx, 'read', namespace),
      });
    })
    .post(`${one}/acknowledge`, guard({ ability: 'acknowledge', asksLater: true }), async (ctx) => {
      readQuery(ctx, {});
      const { note, expiresAt: until, by } = readBody(ctx, acknowledgeBody);
      const expiresAt = until === undefined ? undefined : readFuture(until, store.now());
      ctx.state.comment = note ?? '';
      const { id } = await findPermitted(deps, ctx);
      // An empty note says nothing.
      await actions.acknowledge({ alertId: id, by: authorOf(ctx, by), note: note || undefined, expiresAt });
      ctx.body = await presentResult(deps, id, 'Acknowledged');
    })
    .delete(`${one}/acknowledge`, guard({ ability: 'acknowledge', asksLater: true }), async (ctx) => {
      readQuery(ctx, {});
      readNoBody(ctx);
      const { id } = await findPermitted(deps, ctx);
      await actions.unacknowledge(id, authorOf(ctx));
      ctx.body = await presentResult(deps, id, 'The acknowledgement was taken back');
    });
}

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
