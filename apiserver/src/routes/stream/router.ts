import { carried, changeKinds, type StreamData, wallSteps } from '@cronjob-monitor/shared/contract';
import {
  findChangeBounds,
  findSilence,
  listChanges,
  type NumberedChange,
  type Store,
} from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { tooManyStreams } from '../../errors.ts';
import { createEventStream, retryMs } from '../../live/event-stream.ts';
import { readQuery, type Rule, type Values } from '../../middleware/validate.ts';
import { toWireInstant } from '../../wire-values.ts';
import type { RouteDeps } from '../deps.ts';
import { route } from '../route.ts';
import { namespaces, refs, word, words } from '../../middleware/parameters.ts';
import { createCarrier } from './carry.ts';
import { mayReadSilence } from '../silence-places.ts';
import type { Caller } from '../../auth/authentication.ts';
import { isObjectId } from '../../object-name.ts';

const streamQuery = {
  kinds: words('Kinds of messages; hello and resync come in any case.', [...changeKinds, 'health']),
  namespace: namespaces,
  carry: words(
    'What the stream carries itself: overview is counts and the worst CronJobs; incidents, with overview, the first 20; rows, runs and wall are those of refs: rows of lists, what a page of each shows with the runs that end, rows of the wall. With overview and one of these, hints of other CronJobs and their runs are left out.',
    carried,
  ),
  refs: refs('CronJobs that rows, runs and wall are carried of: namespace/name.', 100),
  step: word('Width of a column of the wall that is carried, which stands around now; 30m without it.', wallSteps),
};

const pingEveryMs = 15_000;
const healthEveryMs = 30_000;
const permissionEveryMs = 60_000;

const mostRefs = 100;

const atMostRefs: Rule<Values<typeof streamQuery>> = ({ refs }) =>
  refs.length > mostRefs
    ? [{ in: 'query', field: 'refs', message: `must name at most ${mostRefs}`, allowed: null }]
    : [];

/** Incidents come at the pace of the counts, which they belong to. */
const incidentsNeedOverview: Rule<Values<typeof streamQuery>> = ({ carry }) =>
  carry.includes('incidents') && !carry.includes('overview')
    ? [{ in: 'query', field: 'carry', message: 'must have overview with incidents', allowed: null }]
    : [];

/** Hints what to read again, as it happens, and carries what is asked for. */
export const streamRoutes = [
  route(
    {
      method: 'GET',
      path: '/events/stream',
      tag: 'Overview',
      id: 'streamEvents',
      says: 'Changes as they happen, as server-sent events',
      ability: 'read',
      query: streamQuery,
      rules: [atMostRefs, incidentsNeedOverview],
      also: ['text/event-stream'],
      noStore: true,
    },
    async ({ deps, ctx, query }) => {
      if (deps.streams.count() >= deps.settings.maxStreams) throw tooManyStreams();
      ctx.type = 'text/event-stream';
      ctx.set({ 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' });
      ctx.body = ctx.method === 'HEAD' ? '' : await openStream(deps, ctx, query);
    },
  ),
];

/** A stream that ends with its client, with the right to read, or with this process. */
async function openStream(deps: RouteDeps, ctx: ApiContext, asked: Values<typeof streamQuery>) {
  const { kinds } = asked;
  const { authentication, clock, store, feed, process } = deps;
  const wants = (kind: Kind): boolean => kinds.length === 0 || kinds.includes(kind);
  let audience = await readAudience(deps, ctx);
  const stream = createEventStream();
  const carrier = createCarrier(deps, ctx, {
    carry: asked.carry,
    refs: asked.refs,
    step: asked.step,
    namespaces: () => audience.namespaces,
    send: (event, data, id) => stream.send(event, data, id),
  });
  const tellEach = async (changes: readonly NumberedChange[]): Promise<void> => {
    for (const change of changes) {
      // In their order, whatever has to be asked about one of them.
      if (!wants(change.kind) || !(await isTold(change, audience))) continue;
      if (carrier.takes(change)) continue;
      stream.send(change.kind, change.data, change.id);
    }
  };
  let told = Promise.resolve();
  const tell = (changes: readonly NumberedChange[]): void => {
    told = told
      .then(() => tellEach(changes))
      // What may be told cannot be found out: the reader asks for all again, and is answered as far as it may.
      .catch(() => stream.send('resync', { reason: 'tooManyChanges' }));
  };
  const tellHealth = (health: StreamData['health'] | undefined): void => {
    if (health && wants('health')) stream.send('health', health);
  };
  /** Rights change: a caller that has lost theirs is told no more, and comes back to hear why. */
  const askAgain = async (): Promise<void> => {
    try {
      ctx.state.caller = await authentication.authenticate(ctx.req);
      ctx.state.reach = await authentication.reach(ctx.state.caller, 'read', []);
      audience = await readAudience(deps, ctx);
    } catch {
      stream.end(retryMs);
    }
  };

  // What happens while the missed changes are read waits for them.
  const waiting: NumberedChange[] = [];
  let live = false;
  const listening = await feed.listen({
    changes: (changes) => (live ? tell(changes) : waiting.push(...changes)),
    health: tellHealth,
  });
  const closed = new AbortController();
  carrier.start(closed.signal);
  const leave = deps.streams.enter(stream);
  stream.body.once('close', () => {
    closed.abort();
    listening.stop();
    leave();
  });

  stream.send('hello', {
    cursor: String(listening.cursor),
    serverTime: toWireInstant(clock.now()),
    version: process.version,
  });
  const lastEventId = ctx.get('Last-Event-ID');
  if (lastEventId !== '') {
    const replay = await readReplay(store, lastEventId, asked.carry.length > 0 ? mostReplayedBeside : mostReplayed);
    if ('resync' in replay) stream.send('resync', { reason: replay.resync });
    else tell(replay.changes);
  }
  tell(waiting);
  live = true;
  tellHealth(feed.health());
  clock.every(pingEveryMs, () => stream.ping(), closed.signal);
  clock.every(healthEveryMs, () => tellHealth(feed.health()), closed.signal);
  if (deps.settings.authMode !== 'none') {
    clock.every(permissionEveryMs, askAgain, closed.signal);
  }
  return stream.body;
}

type Kind = Values<typeof streamQuery>['kinds'][number];

/** What one reader of the stream may hear of. */
interface Audience {
  /** Those asked for that the caller may read; empty = all. */
  readonly namespaces: readonly string[];
  readonly hearsOfMonitors: (namespace: string) => boolean;
  readonly hearsOfChannels: boolean;
  /** Whether a silence of this id may be read; undefined: each may. */
  readonly hearsOfSilence: ((id: string) => Promise<boolean>) | undefined;
}

/** Asks what the caller of a request may hear of now. Throws REVIEW_UNAVAILABLE. */
async function readAudience(deps: RouteDeps, ctx: ApiContext): Promise<Audience> {
  const { authentication } = deps;
  const { namespace: namespaces } = readQuery(ctx, streamQuery);
  const { caller } = ctx.state;
  if (!caller) {
    const hearsOfSilence = (): Promise<boolean> => Promise.resolve(false);
    return { namespaces, hearsOfMonitors: () => false, hearsOfChannels: false, hearsOfSilence };
  }
  const [monitors, hearsOfChannels, readsAll] = await Promise.all([
    authentication.reach(caller, 'readMonitors', namespaces),
    authentication.may(caller, 'readChannels', {}),
    authentication.may(caller, 'read', {}),
  ]);
  return {
    namespaces,
    hearsOfMonitors: (namespace) => monitors.includes(namespace),
    hearsOfChannels,
    hearsOfSilence: readsAll ? undefined : (id) => mayReadSilenceOf(deps, caller, id),
  };
}

/** What belongs to no namespace is told to all, but for what names a channel, and for a silence that may not be read. */
async function isTold({ kind, namespace, data }: NumberedChange, audience: Audience): Promise<boolean> {
  if (kind === 'silence' && audience.hearsOfSilence) {
    const { id } = data as { readonly id?: unknown };
    return typeof id === 'string' && (await audience.hearsOfSilence(id));
  }
  if (namespace === undefined) return audience.hearsOfChannels || (kind !== 'channel' && kind !== 'delivery');
  if (audience.namespaces.length > 0 && !audience.namespaces.includes(namespace)) return false;
  return kind !== 'monitor' || audience.hearsOfMonitors(namespace);
}

/** More are not worth telling one by one. */
const mostReplayed = 1_000;
/** For a stream that carries rows: most changes are in what it carries, and it is opened anew as rows come into sight. */
const mostReplayedBeside = 5_000;
/** Numbers before a cursor that may have committed after it, and within which time. */
const overlap = 50;
const settledAfterMs = 5_000;

/** What a client missed that comes back: the changes after its cursor, or that it has to read all again. */
type Replay = { readonly changes: readonly NumberedChange[] } | { readonly resync: StreamData['resync']['reason'] };

/** Changes after `lastEventId`, and those just before it that may have committed later: each at least once. */
async function readReplay(store: Store, lastEventId: string, most: number): Promise<Replay> {
  if (!/^[0-9]{1,15}$/.test(lastEventId)) return { resync: 'cursorTooOld' };
  const cursor = Number(lastEventId);
  const bounds = await findChangeBounds(store);
  if (!bounds || cursor > bounds.newest || cursor < bounds.oldest - 1) return { resync: 'cursorTooOld' };
  const changes = await listChanges(store, { id: Math.max(0, cursor - overlap), limit: most + overlap + 1 });
  const later = changes.filter(({ id }) => id > cursor);
  if (later.length > most) return { resync: 'tooManyChanges' };
  const at = changes.find(({ id }) => id === cursor)?.at;
  const before = changes.filter(
    ({ id, at: writtenAt }) => id < cursor && at !== undefined && writtenAt > at - settledAfterMs,
  );
  return { changes: [...before, ...later] };
}

/** The same by its id; false for one that there is not. */
async function mayReadSilenceOf(
  deps: Parameters<typeof mayReadSilence>[0],
  caller: Caller,
  id: string,
): Promise<boolean> {
  const silence = isObjectId(id) ? await findSilence(deps.store, id) : undefined;
  return silence !== undefined && (await mayReadSilence(deps, caller, silence.matcher));
}
