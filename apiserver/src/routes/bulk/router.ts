import {
  BulkInput,
  BulkResult,
  openAlertStates,
  type Ability,
  type BulkAction,
  type BulkBody,
  type BulkRef,
  type BulkRow,
  refText,
} from '@cronjob-monitor/shared/contract';
import type { Instant } from '@cronjob-monitor/shared/domain';
import { findSilence, listAlerts, type StoredAlert } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { ApiError, notFound } from '../../errors.ts';
import { permitIn, callerOf } from '../../middleware/guard.ts';
import { readFuture } from '../alert/router.ts';
import { authorOf } from '../author.ts';
import type { RouteDeps } from '../deps.ts';
import { askElsewhere, type Elsewhere } from '../clusters/ask.ts';
import { getKnownCronJob, getStartable } from '../known-cron-job.ts';
import { route } from '../route.ts';
import { placesOf } from '../silence-places.ts';
import { readSilenceDraft } from '../silences/silence-draft.ts';

/** Rows that are done side by side: each may wait for the cluster. */
const atOnce = 8;

/** What a row needs, beside the right to read. */
const abilities = {
  acknowledge: 'acknowledge',
  unacknowledge: 'acknowledge',
  silence: 'silence',
  endSilence: 'silence',
  suspend: 'suspend',
  resume: 'suspend',
} as const satisfies Record<BulkAction, Ability>;

/** One request for a selection. A refusal of one row is the result of this row; what is wrong with the whole is refused as a whole. */
export const bulkRoutes = [
  route(
    {
      method: 'POST',
      path: '/bulk',
      tag: 'Alerts',
      id: 'actOnMany',
      says: 'Does one thing to many CronJobs, each checked alone, with a result for each',
      ability: 'read',
      elsewhere: 'inParts',
      asksLater: true,
      body: BulkInput,
      answer: BulkResult,
    },
    async ({ deps, ctx, body: { action, refs, body = {} } }) => {
      const perform = toPerform(deps, ctx, action, body);
      const { elsewhere } = deps;
      const doIt = async (ref: BulkRef): Promise<BulkRow> =>
        elsewhere ? askOne(elsewhere, ctx, { action, ref, body }) : doOne(deps, ctx, { ref, action, perform });
      ctx.state.comment = `${action} of ${refs.map(refText).join(', ')}`;
      const rows: BulkRow[] = [];
      // A target that is named twice is changed once, and both rows report the result.
      const begun = new Map<string, Promise<BulkRow>>();
      const done = (ref: BulkRef): Promise<BulkRow> => {
        const { namespace, name, alertIds, silenceIds } = ref;
        const key = JSON.stringify([namespace, name, alertIds?.toSorted(), silenceIds?.toSorted()]);
        const row = begun.get(key) ?? doIt(ref);
        begun.set(key, row);
        return row;
      };
      for (let start = 0; start < refs.length; start += atOnce) {
        const part = refs.slice(start, start + atOnce);
        rows.push(...(await Promise.all(part.map(done))));
      }
      return { rows };
    },
  ),
];

type Done = Pick<BulkRow, 'outcome' | 'words'> & Partial<Pick<BulkRow, 'alertIds' | 'silenceIds'>>;
type Perform = (ref: BulkRef) => Promise<Done>;

/** One row: its rights are asked before anything of it is looked up. What is no refusal of this row, such as a database that is away, is thrown. */
async function doOne(
  { authentication }: RouteDeps,
  ctx: ApiContext,
  { ref, action, perform }: { ref: BulkRef; action: BulkAction; perform: Perform },
): Promise<BulkRow> {
  const { namespace, name } = ref;
  const caller = callerOf(ctx);
  const row = { namespace, name, code: null, alertIds: [], silenceIds: [] };
  try {
    await permitIn(ctx, namespace);
    await authentication.permit(caller, abilities[action], { namespace, path: ctx.path });
    return { ...row, ...(await perform(ref)) };
  } catch (error) {
    return refusedRow(ref, error);
  }
}

/** One row of another cluster. */
async function askOne(
  elsewhere: Elsewhere,
  ctx: ApiContext,
  { ref, ...rest }: { ref: BulkRef; action: BulkAction; body: BulkBody },
): Promise<BulkRow> {
  try {
    const { rows } = (await askElsewhere(elsewhere, ctx, {
      id: 'actOnMany',
      body: JSON.stringify({ ...rest, refs: [ref] }),
    })) as BulkResult;
    return rows[0] as BulkRow;
  } catch (error) {
    return refusedRow(ref, error);
  }
}

function refusedRow({ namespace, name }: BulkRef, error: unknown): BulkRow {
  if (!(error instanceof ApiError) || error.code === 'INTERNAL_ERROR') throw error;
  const { code, message: words } = error;
  return { namespace, name, code, words, outcome: 'refused', alertIds: [], silenceIds: [] };
}

/** Throws INVALID_REQUEST for what is wrong with all rows alike. */
function toPerform(deps: RouteDeps, ctx: ApiContext, action: BulkAction, body: BulkBody): Perform {
  const by = authorOf(ctx, body.by);
  switch (action) {
    case 'acknowledge': {
      const expiresAt = body.expiresAt === undefined ? undefined : readFuture(body.expiresAt, deps.store.now());
      return (ref) => acknowledgeOf(deps, ref, { by, note: body.note || undefined, expiresAt });
    }
    case 'unacknowledge':
      return (ref) => unacknowledgeOf(deps, ref, by);
    case 'silence': {
      const draftOf = (ref: BulkRef, alertId?: string) => {
        const matcher = { namespaces: [ref.namespace], cronjobs: [ref.name], ...(alertId && { alertId }) };
        return readSilenceDraft({ ...body, matcher }, by, deps.store.now());
      };
      draftOf({ namespace: 'any', name: 'any' }); // what it says of the end is wrong for all
      return (ref) => silenceOf(deps, ref, draftOf);
    }
    case 'endSilence':
      return (ref) => endSilencesOf(deps, ref);
    default:
      return (ref) => suspendOf(deps, ref, action === 'suspend');
  }
}

/** The alerts of a row that are meant, of those that are open. */
async function openAlertsOf({ store }: RouteDeps, { namespace, name, alertIds }: BulkRef): Promise<StoredAlert[]> {
  const filter = { states: openAlertStates, namespaces: [namespace], cronJobs: [name], ids: alertIds };
  return [...(await listAlerts(store, filter, { sort: { key: 'since', descending: false } }))];
}

async function acknowledgeOf(
  deps: RouteDeps,
  ref: BulkRef,
  wish: { readonly by: string; readonly note: string | undefined; readonly expiresAt: Instant | undefined },
): Promise<Done> {
  const open = await openAlertsOf(deps, ref);
  // An earlier note stays: its author wrote it, and to take this back must not lose it.
  const fresh = open.filter(({ acknowledgement }) => acknowledgement === undefined);
  const alertIds: string[] = [];
  for (const { id } of fresh) {
    try {
      await deps.actions.acknowledge({ alertId: id, ...wish });
      alertIds.push(id);
    } catch (error) {
      // It ended since it was listed: there is nothing to take note of any more.
      if (!(error instanceof ApiError) || error.code !== 'ALERT_ENDED') throw error;
    }
  }
  if (alertIds.length > 0) return { outcome: 'done', words: `${alertsText(alertIds.length)} acknowledged`, alertIds };
  return { outcome: 'unchanged', words: open.length === 0 ? 'No alert is open' : 'Acknowledged already' };
}

async function unacknowledgeOf(deps: RouteDeps, ref: BulkRef, by: string): Promise<Done> {
  const noted = (await openAlertsOf(deps, ref)).filter(({ acknowledgement }) => acknowledgement !== undefined);
  for (const { id } of noted) await deps.actions.unacknowledge(id, by);
  if (noted.length === 0) return { outcome: 'unchanged', words: 'Nothing is acknowledged' };
  const words = `${alertsText(noted.length)} no longer acknowledged`;
  return { outcome: 'done', words, alertIds: noted.map(({ id }) => id) };
}

/** One silence for the CronJob, or one for each alert that is named: each ends by itself. */
async function silenceOf(
  deps: RouteDeps,
  ref: BulkRef,
  draftOf: (ref: BulkRef, alertId?: string) => ReturnType<typeof readSilenceDraft>,
): Promise<Done> {
  const { namespace, name, alertIds } = ref;
  if (alertIds === undefined) await getKnownCronJob(deps.store, { namespace, name });
  const open = await openAlertsOf(deps, ref);
  const meant = alertIds === undefined ? [undefined] : open.map(({ id }) => id);
  const silenceIds: string[] = [];
  for (const alertId of meant) silenceIds.push((await deps.actions.createSilence(draftOf(ref, alertId))).id);
  if (meant.length === 0) return { outcome: 'unchanged', words: 'No alert is open' };
  return { outcome: 'done', words: `Silenced: ${alertsText(open.length)} held now`, silenceIds };
}

/** Of silences that act in this namespace alone: the right was asked for there. */
async function endSilencesOf(deps: RouteDeps, { namespace, silenceIds = [] }: BulkRef): Promise<Done> {
  for (const id of silenceIds) {
    const silence = await findSilence(deps.store, id);
    const places = silence ? await placesOf(deps.store, silence.matcher) : [];
    if (!silence || places.some((place) => place !== namespace)) throw notFound('Silence', id, 'neverSeen');
    await deps.actions.endSilence(id);
  }
  if (silenceIds.length === 0) return { outcome: 'unchanged', words: 'No silence is named' };
  return { outcome: 'done', words: 'The silence has ended', silenceIds };
}

async function suspendOf({ store, actions }: RouteDeps, ref: BulkRef, isToSuspend: boolean): Promise<Done> {
  const { namespace, name } = ref;
  const { changed, message } = await actions.setSuspended(await getStartable(store, { namespace, name }), isToSuspend);
  return { outcome: changed ? 'done' : 'unchanged', words: message };
}

function alertsText(count: number): string {
  return count === 1 ? '1 alert' : `${count} alerts`;
}
