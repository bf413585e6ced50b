import type { StreamData } from '@cronjob-monitor/shared/contract';
import type { NumberedChange } from '@cronjob-monitor/shared/store';
import type { ApiContext } from '../../context.ts';
import { tooManyStreams } from '../../errors.ts';
import { createEventStream, retryMs } from '../../live/event-stream.ts';
import { readQuery, type Values } from '../../middleware/validate.ts';
import { toWireInstant } from '../../wire-values.ts';
import { createRouter, type ApiRouter, type RouteDeps } from '../deps.ts';
import { isTold, readAudience } from './audience.ts';
import { streamQuery } from './query.ts';
import { readReplay } from './replay.ts';

const pingEveryMs = 15_000;
const healthEveryMs = 30_000;
const permissionEveryMs = 60_000;

/**
 * @openapi
 * /events/stream:
 *   get:
 *     tags: [Overview]
 *     operationId: streamEvents
 *     summary: Changes as they happen, as server-sent events
 *     x-ability: read
 *     x-query: [streamKinds, namespaces]
 *     x-answers: { 200: none }
 *     x-also: [text/event-stream]
 *     x-no-store: true
 */

/** GET /events/stream: hints what to read again, as it happens. */
export function streamRouter(deps: RouteDeps): ApiRouter {
  return createRouter().get('/events/stream', deps.guard({ ability: 'read' }), async (ctx) => {
    const query = readQuery(ctx, streamQuery);
    if (deps.streams.count() >= deps.settings.maxStreams) throw tooManyStreams();
    ctx.type = 'text/event-stream';
    ctx.set({ 'Cache-Control': 'no-store, no-transform', 'X-Accel-Buffering': 'no' });
    ctx.body = ctx.method === 'HEAD' ? '' : await openStream(deps, ctx, query.kinds);
  });
}

/** A stream that ends with its client, with the right to read, or with this process. */
async function openStream(deps: RouteDeps, ctx: ApiContext, kinds: readonly Kind[]) {
  const { authentication, clock, store, feed, process } = deps;
  const wants = (kind: Kind): boolean => kinds.length === 0 || kinds.includes(kind);
  let audience = await readAudience(deps, ctx);
  const stream = createEventStream();
  const tellEach = async (changes: readonly NumberedChange[]): Promise<void> => {
    for (const change of changes) {
      // In their order, whatever has to be asked about one of them.
      if (wants(change.kind) && (await isTold(change, audience))) stream.send(change.kind, change.data, change.id);
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
  /** Rights change: whoever has lost theirs is told no more, and comes back to hear why. */
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
    const replay = await readReplay(store, lastEventId);
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
