import {
  Silence,
  SilenceList,
  type SilenceSortKey,
  type AlertType,
  type Severity,
  type SilenceState,
  silenceSortKeys,
  silenceStates,
  SilenceInput,
} from '@cronjob-monitor/shared/contract';
import {
  type SilenceMatcher,
  type Instant,
  isInForce,
  matches,
  type MutableAlert,
} from '@cronjob-monitor/shared/domain';
import {
  findSilence,
  listKeptSilences,
  listMutableAlerts,
  listMutedBySilence,
  type StoredSilence,
} from '@cronjob-monitor/shared/store';
import type { SilenceDraft } from '../../actions/index.ts';
import type { ApiContext } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { askedNamespaces, permitIn, callerOf } from '../../middleware/guard.ts';
import { offsetNeedsLimit, pageOnWish, toPagination } from '../../middleware/pagination.ts';
import { isObjectId } from '../../object-name.ts';
import { authorOf } from '../author.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { mayReadSilence, namedIn, placesOf } from '../silence-places.ts';
import { readSilenceDraft } from './silence-draft.ts';
import { toWireInstant } from '../../wire-values.ts';
import { flag, namespaces, paging, sort, words } from '../../middleware/parameters.ts';

const silencesQuery = {
  state: words('States; scheduled and active without it.', silenceStates),
  namespace: namespaces,
  sort: sort(silenceSortKeys, { key: 'endsAt', descending: false }),
  ...paging,
};

const newSilenceQuery = { dryRun: flag('Only says what it would hold; nothing is kept.') };

/** What people muted, until when and why. */
export const silencesRoutes = [
  route(
    {
      method: 'GET',
      path: '/silences',
      tag: 'Silences',
      id: 'listSilences',
      says: 'What people muted',
      ability: 'read',
      query: silencesQuery,
      rules: [offsetNeedsLimit],
      answer: SilenceList,
    },
    async ({ deps, ctx, query: { state, sort, limit, offset } }): Promise<SilenceList> => {
      const { store } = deps;
      // As asked for, not as cut to what the caller may read: each silence is asked about by itself.
      const namespace = askedNamespaces(ctx);
      const states = state.length > 0 ? state : (['scheduled', 'active'] as const);
      const now = store.now();
      const asked = (await listKeptSilences(store)).filter(
        (silence) => states.some((word) => word === stateOf(silence, now)) && concerns(silence.matcher, namespace),
      );
      const found = await listReadable(deps, ctx, asked);
      const page = pageOnWish({ limit, offset });
      const ordered = orderSilences(found, sort);
      const shown = page ? ordered.slice(page.offset, page.offset + page.limit) : ordered;
      return {
        items: await presentSilences(deps, ctx, shown),
        ...(page ? { pagination: toPagination(page, found.length) } : {}),
      };
    },
  ),
  route(
    {
      method: 'POST',
      path: '/silences',
      tag: 'Silences',
      id: 'createSilence',
      says: 'Mutes what matches, until an end; with dryRun it only says what it would hold',
      ability: 'silence',
      elsewhere: true,
      asksLater: true,
      query: newSilenceQuery,
      body: SilenceInput,
      answer: Silence,
      statuses: [200, 201],
    },
    async ({ deps, ctx, query: { dryRun = false }, body }) => {
      const { store, actions } = deps;
      const draft = await readDraft(deps, ctx, body);
      if (dryRun) {
        const isReadable = await readableNamespaces(deps, ctx);
        const alerts = (await listMutableAlerts(store)).filter((alert) => isReadable(alert.namespace));
        return presentDraft(actions.draftSilence(draft), alerts, store.now());
      }
      const silence = await actions.createSilence(draft, ctx.state.actionId);
      ctx.status = 201;
      ctx.set('Location', `/api/v1/silences/${silence.id}`);
      return presentOne(deps, ctx, silence);
    },
  ),
  route(
    {
      method: 'GET',
      path: '/silences/:id',
      tag: 'Silences',
      id: 'getSilence',
      says: 'One silence',
      ability: 'read',
      asksLater: true,
      answer: Silence,
    },
    async ({ deps, ctx }) => {
      const silence = await getSilence(deps, ctx);
      await permitFor(deps, ctx, silence.matcher);
      return presentOne(deps, ctx, silence);
    },
  ),
  route(
    {
      method: 'PUT',
      path: '/silences/:id',
      tag: 'Silences',
      id: 'changeSilence',
      says: 'Gives a silence that is not over another matcher, span and comment',
      ability: 'silence',
      elsewhere: true,
      asksLater: true,
      body: SilenceInput,
      answer: Silence,
      refusals: [409],
    },
    async ({ deps, ctx, body }) => {
      const { actions } = deps;
      const draft = await readDraft(deps, ctx, body);
      const { id, matcher } = await getSilence(deps, ctx);
      await permitFor(deps, ctx, matcher);
      return presentOne(deps, ctx, await actions.changeSilence(id, draft));
    },
  ),
  route(
    {
      method: 'DELETE',
      path: '/silences/:id',
      tag: 'Silences',
      id: 'endSilence',
      says: 'Ends a silence now; it stays listed as expired',
      ability: 'silence',
      elsewhere: true,
      asksLater: true,
      answer: Silence,
    },
    async ({ deps, ctx }) => {
      const { actions } = deps;
      const { id, matcher } = await getSilence(deps, ctx);
      await permitFor(deps, ctx, matcher);
      return presentOne(deps, ctx, await actions.endSilence(id));
    },
  ),
];

function concerns(matcher: SilenceMatcher, asked: readonly string[]): boolean {
  const namespaces = namedIn(matcher);
  return asked.length === 0 || namespaces.length === 0 || namespaces.some((namespace) => asked.includes(namespace));
}

/** What the body asks for, once it is known that the caller may ask for it. */
async function readDraft(deps: RouteDeps, ctx: ApiContext, body: SilenceInput): Promise<SilenceDraft> {
  const draft = readSilenceDraft(body, authorOf(ctx, body.by), deps.store.now());
  ctx.state.comment = draft.comment;
  await permitFor(deps, ctx, draft.matcher);
  return draft;
}

/** In each namespace that it names, or in that of its alert; one that is bound to none concerns the whole cluster. */
async function permitFor({ store }: RouteDeps, ctx: ApiContext, matcher: SilenceMatcher): Promise<void> {
  for (const place of await placesOf(store, matcher)) {
    // Serial: the first refusal is the answer.
    await permitIn(ctx, place);
  }
}

async function getSilence({ store }: RouteDeps, ctx: ApiContext): Promise<StoredSilence> {
  const { id = '' } = ctx.params;
  const silence = isObjectId(id) ? await findSilence(store, id) : undefined;
  if (!silence) throw notFound('Silence', id, 'neverSeen');
  return silence;
}

/** Of these the ones that each would be shown by itself. */
async function listReadable(
  deps: RouteDeps,
  ctx: ApiContext,
  silences: readonly StoredSilence[],
): Promise<StoredSilence[]> {
  const caller = callerOf(ctx);
  const isReadable = await Promise.all(silences.map(({ matcher }) => mayReadSilence(deps, caller, matcher)));
  return silences.filter((_, index) => isReadable[index]);
}

/** Alerts of which the caller may read count, and no others. */
async function readableNamespaces(
  { authentication }: RouteDeps,
  ctx: ApiContext,
): Promise<(namespace: string | undefined) => boolean> {
  const reach = await authentication.reach(callerOf(ctx), 'read', []);
  return (namespace) => reach.isWhole || (namespace !== undefined && reach.includes(namespace));
}

async function presentOne(deps: RouteDeps, ctx: ApiContext, silence: StoredSilence): Promise<Silence> {
  return presentSilence(silence, await gatherFacts(deps, ctx, [silence]));
}

async function presentSilences(
  deps: RouteDeps,
  ctx: ApiContext,
  silences: readonly StoredSilence[],
): Promise<Silence[]> {
  if (silences.length === 0) return [];
  const facts = await gatherFacts(deps, ctx, silences);
  return silences.map((silence) => presentSilence(silence, facts));
}

async function gatherFacts(
  deps: RouteDeps,
  ctx: ApiContext,
  silences: readonly StoredSilence[],
): Promise<SilenceFacts> {
  const { store } = deps;
  const since = Math.min(...silences.map(({ createdAt }) => createdAt));
  const [alerts, held, isReadable] = await Promise.all([
    listMutableAlerts(store),
    listMutedBySilence(store, since),
    readableNamespaces(deps, ctx),
  ]);
  return {
    now: store.now(),
    alerts: alerts.filter(({ namespace }) => isReadable(namespace)),
    held: (silenceId) =>
      [...(held.get(silenceId) ?? [])].flatMap(([id, namespace]) => (isReadable(namespace) ? [id] : [])),
  };
}

const keys: Readonly<Record<SilenceSortKey, (silence: StoredSilence) => Instant>> = {
  endsAt: endOf,
  startsAt: ({ startsAt }) => startsAt,
  createdAt: ({ createdAt }) => createdAt,
};

/** In the order asked for; ties by id. */
function orderSilences(
  silences: readonly StoredSilence[],
  sort: { readonly key: SilenceSortKey; readonly descending: boolean },
): StoredSilence[] {
  const keyOf = keys[sort.key];
  const sign = sort.descending ? -1 : 1;
  return silences.toSorted((a, b) => sign * (keyOf(a) - keyOf(b)) || (a.id < b.id ? -1 : 1));
}

function stateOf(silence: StoredSilence, now: Instant): SilenceState {
  if (endOf(silence) <= now) return 'expired';
  return silence.startsAt <= now ? 'active' : 'scheduled';
}

/** When it is over, or was ended. */
function endOf({ endsAt, endedAt }: StoredSilence): Instant {
  return Math.min(endsAt, endedAt ?? endsAt);
}

/** What silences are told from. */
interface SilenceFacts {
  readonly now: Instant;
  /** Every live alert that the caller may read. */
  readonly alerts: readonly MutableAlert[];
  /** Ids of the readable alerts that a silence has held so far. */
  readonly held: (silenceId: string) => readonly string[];
}

function presentSilence(silence: StoredSilence, { now, alerts, held }: SilenceFacts): Silence {
  const mutedNow = isInForce(silence, now) ? matchedBy(silence, alerts) : [];
  const ever = new Set([...held(silence.id), ...mutedNow]);
  return { ...presentBase(silence, now), mutedNow: mutedNow.length, mutedTotal: ever.size };
}

/** A silence that is only asked about: what it would hold if it were in force now. */
function presentDraft(silence: StoredSilence, alerts: readonly MutableAlert[], now: Instant): Silence {
  const muted = matchedBy(silence, alerts).length;
  return { ...presentBase(silence, now), id: null, mutedNow: muted, mutedTotal: muted };
}

function matchedBy({ matcher }: StoredSilence, alerts: readonly MutableAlert[]): readonly string[] {
  return alerts.filter((alert) => matches(matcher, alert)).map(({ id }) => id);
}

function presentBase(silence: StoredSilence, now: Instant): Omit<Silence, 'mutedNow' | 'mutedTotal'> {
  const { namespaces, cronjobs, refs = [], types, severities, monitor, alertId, all } = silence.matcher;
  return {
    id: silence.id,
    state: stateOf(silence, now),
    matcher: {
      namespaces,
      cronjobs,
      refs,
      // Only these words are let in.
      types: types as readonly AlertType[],
      severities: severities as readonly Severity[],
      monitor,
      alertId,
      all,
    },
    startsAt: toWireInstant(silence.startsAt),
    endsAt: toWireInstant(endOf(silence)),
    untilResolved: silence.untilResolved,
    comment: silence.comment,
    createdBy: silence.createdBy,
    createdAt: toWireInstant(silence.createdAt),
    updatedAt: toWireInstant(silence.updatedAt),
  };
}
