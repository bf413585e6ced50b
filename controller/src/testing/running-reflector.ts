import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';

import { ClusterError, type ClusterErrorCode, type RawObject } from '@cronjob-monitor/shared/kube';
import { FakeClock, RecordingLogger, ScriptedCluster } from '@cronjob-monitor/shared/testing';

import { ObjectCache } from '../runtime/cache.ts';
import { type EventHandler, findIdentity, type Identity } from '../runtime/objects.ts';
import { ListOffer } from '../runtime/lists.ts';
import type { BlindSpan } from '../runtime/watch-progress.ts';
import { Reflector } from '../runtime/reflector.ts';

interface ReflectorSetUp {
  readonly handlers?: readonly EventHandler<Identity>[];
  /** What `Math.random` would have said; full back-off, and watches of 300 s, by default. */
  readonly random?: number;
  readonly namespace?: string;
  /** The release of the server; 1.31 by default, which lists in pages. */
  readonly version?: string | Error;
  readonly onBlind?: (span: BlindSpan) => void;
}

/** A reflector of Jobs that runs from the first list on; what it told is in `told`, such as `added u1@1`. */
export function aReflector(t: TestContext, options: ReflectorSetUp = {}) {
  const clock = new FakeClock();
  const cluster = new ScriptedCluster(clock, options.version);
  const logger = new RecordingLogger();
  const cache = new ObjectCache<Identity>({});
  const counts = { lists: 0, restarts: 0, unreadable: 0, failed: 0 };
  const told: string[] = [];
  const tell: EventHandler<Identity> = (event) => {
    const tombstone = event.type === 'deleted' && event.tombstone ? ' tombstone' : '';
    told.push(`${event.type} ${event.item.uid}@${event.item.version}${tombstone}`);
  };
  const reflector = new Reflector<Identity>({
    cluster,
    cache,
    clock,
    logger,
    projection: { kind: 'Job', project: (raw: RawObject) => findIdentity(raw) },
    namespace: options.namespace,
    listOffer: new ListOffer(cluster),
    onBlind: options.onBlind,
    handlers: options.handlers ?? [tell],
    random: () => options.random ?? 0.999999,
    metrics: {
      listed: () => (counts.lists += 1),
      restarted: () => (counts.restarts += 1),
      unreadableLine: () => (counts.unreadable += 1),
      handlerFailed: () => (counts.failed += 1),
    },
  });
  const stop = new AbortController();
  const start = () => {
    const running = reflector.run(stop.signal);
    t.after(async () => {
      stop.abort();
      await running;
      assert.equal(clock.sleepers, 0, 'a stopped reflector sleeps no more');
    });
  };
  const logged = (level: string) => logger.lines.filter((line) => line.level === level).length;
  return { clock, cluster, logger, logged, cache, counts, told, tell, reflector, start, stop };
}

/** What the client throws. */
export function failure(code: ClusterErrorCode, more: { status?: number; retryAfterMs?: number } = {}): ClusterError {
  return new ClusterError(code, { verb: 'list', resource: 'jobs', message: `list jobs: ${code}`, ...more });
}
