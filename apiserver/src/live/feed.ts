import type { StreamData } from '@cronjob-monitor/shared/contract';
import { type NumberedChange, type Store, StoreError } from '@cronjob-monitor/shared/store';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import { createChangeFollower } from './change-follower.ts';
import { type EventStream, retryMs } from './event-stream.ts';

/** Between two looks for changes, and for the health of the service. */
const changesEveryMs = 500;
const healthEveryMs = 5_000;

interface FeedListener {
  readonly changes: (changes: readonly NumberedChange[]) => void;
  /** On a change of it. */
  readonly health: (health: StreamData['health']) => void;
}

/** What happens, asked for once in a process, however many listen. */
export interface Feed {
  /** Listens until the result is called. Rejects while the database cannot say where the changes stand. */
  listen(listener: FeedListener): Promise<{ readonly cursor: number; stop(): void }>;
  /** As last looked at; undefined before the first look. */
  health(): StreamData['health'] | undefined;
}

export function createFeed(deps: {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly readHealth: () => Promise<StreamData['health']>;
}): Feed {
  const { clock, logger } = deps;
  const listeners = new Set<FeedListener>();
  let current: StreamData['health'] | undefined;
  let follower: ReturnType<typeof createChangeFollower> | undefined;
  let stopped: AbortController | undefined;

  async function lookForChanges(): Promise<void> {
    try {
      const changes = (await follower?.next()) ?? [];
      if (changes.length > 0) for (const { changes: tell } of listeners) tell(changes);
    } catch (error) {
      // Streams stay open while the database is away; health tells them of it.
      if (!(error instanceof StoreError)) logger.error('Following changes failed', { failure: String(error) });
    }
  }

  async function lookForHealth(): Promise<void> {
    const next = await deps.readHealth();
    const isSame = JSON.stringify(next) === JSON.stringify(current);
    current = next;
    if (!isSame) for (const { health: tell } of listeners) tell(next);
  }

  function start(): void {
    stopped = new AbortController();
    clock.every(changesEveryMs, lookForChanges, stopped.signal);
    clock.every(healthEveryMs, lookForHealth, stopped.signal);
  }

  return {
    health: () => current,
    async listen(listener) {
      const mine = follower ?? createChangeFollower(deps.store);
      if (!follower) await mine.next();
      current ??= await deps.readHealth();
      // Meanwhile another listener may have been faster, and the last one may have gone.
      follower ??= mine;
      if (listeners.size === 0) start();
      listeners.add(listener);
      return {
        cursor: follower.cursor(),
        stop: () => {
          listeners.delete(listener);
          if (listeners.size > 0) return;
          stopped?.abort();
          follower = undefined; // who listens next takes a new place
          current = undefined;
        },
      };
    },
  };
}

export interface OpenStreams {
  count(): number;
  /** Call the result when it has closed. */
  enter(stream: EventStream): () => void;
  /** Ends them all: their clients come back to another process. */
  endAll(): void;
}

export function createOpenStreams(gauge: { opened(): void; closed(): void }): OpenStreams {
  const open = new Set<EventStream>();
  return {
    count: () => open.size,
    enter(stream) {
      open.add(stream);
      gauge.opened();
      return () => {
        if (open.delete(stream)) gauge.closed();
      };
    },
    endAll() {
      for (const stream of open) stream.end(retryMs);
    },
  };
}
