import { type Cluster, ClusterError, type RawObject, type WatchedKind } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';

import type { ObjectCache } from './cache.ts';
import { ClusterOutage } from './cluster-outage.ts';
import { Delivery } from './delivery.ts';
import { listAll } from './list-pages.ts';
import { ObjectDiff } from './object-diff.ts';
import {
  type EventHandler,
  findIdentity,
  type Identity,
  type Projected,
  type Projection,
  resourceOf,
} from './objects.ts';
import { WatchProblem, type WatchTrouble } from './watch-problem.ts';
import { type BlindSpan, WatchProgress } from './watch-progress.ts';
import { type Recovery, WatchRecovery } from './watch-recovery.ts';
import { type StreamEnd, type WatchLine, WatchStream } from './watch-stream.ts';

/** What a reflector counts; one for each kind, shared by its namespaces. */
export interface WatchMetrics {
  listed(): void;
  restarted(): void;
  unreadableLine(): void;
  handlerFailed(): void;
}

export interface ReflectorDeps<T extends Projected> {
  readonly cluster: Pick<Cluster, 'listPage' | 'watch' | 'reloadCredentials'>;
  readonly projection: Projection<T>;
  /** Undefined: all namespaces, or a kind that has none. */
  readonly namespace?: string | undefined;
  /** Brought up to date before the handlers are told. May be shared by the reflectors of several namespaces. */
  readonly cache: ObjectCache<T, string>;
  readonly handlers: readonly EventHandler<T>[];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: WatchMetrics;
  /** Told after a list that took the place of a watch: events between them may be lost. */
  readonly onBlind?: ((span: BlindSpan) => void) | undefined;
  /** Shared by all that watch one cluster; absent: its own. */
  readonly outage?: ClusterOutage | undefined;
  /** Uniform in [0, 1). */
  readonly random?: () => number;
}

export interface ReflectorState {
  readonly kind: WatchedKind;
  readonly namespace: string | undefined;
  /** The first full list was delivered. */
  readonly synced: boolean;
  /** Start of the last full list, or receipt of the last event or bookmark: no verdict about absence beyond it. */
  readonly freshThroughAt: number | undefined;
  /** Age of the same on the monotonic clock; counted from the start while nothing came yet. */
  readonly ageMs: number;
  /** What keeps it from working. */
  readonly trouble: WatchTrouble | undefined;
}

/** Bookmarks come about every minute: a watch that is silent for longer than that is dead. */
const idleMs = 90_000;
/** An ERROR event may hide a lost one: the list that follows it waits at most this long. */
const relistWithinMs = 5_000;

/**
 * Keeps a cache in step with the cluster for one kind, and tells handlers what changes: list, watch from its version, and
 * again, without end. It misses nothing while Kubernetes still has it; what it does after each kind of trouble is the table
 * of `WatchRecovery`.
 */
export class Reflector<T extends Projected> {
  readonly #deps: ReflectorDeps<T>;
  readonly #kind: WatchedKind;
  readonly #namespace: string | undefined;
  readonly #random: () => number;
  readonly #diff: ObjectDiff<T>;
  readonly #delivery: Delivery<T>;
  readonly #recovery: WatchRecovery;
  readonly #problem: WatchProblem;
  readonly #progress: WatchProgress;

  constructor(deps: ReflectorDeps<T>) {
    this.#deps = deps;
    this.#kind = deps.projection.kind;
    this.#namespace = deps.namespace;
    this.#random = deps.random ?? Math.random;
    const resource = resourceOf[this.#kind];
    const logger = deps.logger.child({ resource, namespace: deps.namespace });
    this.#diff = new ObjectDiff(deps.projection, deps.cache, deps.namespace);
    this.#delivery = new Delivery({ handlers: deps.handlers, logger, onFailure: () => deps.metrics.handlerFailed() });
    this.#recovery = new WatchRecovery({
      clock: deps.clock,
      random: this.#random,
      reloadCredentials: () => deps.cluster.reloadCredentials(),
    });
    const outage = deps.outage ?? new ClusterOutage(deps.logger);
    this.#problem = new WatchProblem({ kind: this.#kind, resource, namespace: deps.namespace }, outage, logger);
    this.#progress = new WatchProgress(deps.clock);
  }

  get state(): ReflectorState {
    return {
      kind: this.#kind,
      namespace: this.#namespace,
      synced: this.#progress.isSynced,
      freshThroughAt: this.#progress.freshThroughAt,
      ageMs: this.#progress.ageMs,
      trouble: this.#problem.current,
    };
  }

  /** Runs until the signal aborts, and then resolves. Throws nothing. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const recovery = await (this.#progress.listIsDue ? this.#list(signal) : this.#watch(signal));
      if (recovery.next === 'list') this.#progress.forgetVersion();
      if (signal.aborted) return;
      if (recovery.waitMs > 0) await this.#deps.clock.sleep(recovery.waitMs, signal).catch(() => {});
    }
  }

  async #list(signal: AbortSignal): Promise<Recovery> {
    const { cluster, metrics } = this.#deps;
    let begun = this.#progress.mark();
    metrics.listed();
    const onBegin = () => {
      begun = this.#progress.mark();
      this.#diff.beginList();
    };
    const onItems = (items: readonly RawObject[]) => this.#takeInPage(items);
    try {
      const list = { cluster, kind: this.#kind, namespace: this.#namespace, onBegin, onItems };
      const version = await listAll(list, signal);
      await this.#delivery.deliver(this.#diff.finishList());
      const blind = this.#progress.listed(version, begun);
      if (blind) this.#deps.onBlind?.(blind);
    } catch (error) {
      return this.#afterFailure(error, 'list', signal);
    }
    this.#recovery.answered();
    this.#problem.worked('list');
    return { waitMs: 0, next: 'watch' };
  }

  async #takeInPage(items: readonly RawObject[]): Promise<void> {
    for (const raw of items) {
      const identity = findIdentity(raw);
      if (!identity) this.#delivery.failed('', new Error('an object of the list has no uid, name or resourceVersion'));
      else await this.#takeIn(identity, () => this.#diff.observe(raw, identity));
    }
  }

  async #watch(signal: AbortSignal): Promise<Recovery> {
    const { clock, cluster, metrics } = this.#deps;
    let recovery: Recovery | undefined;
    const stream = new WatchStream(
      {
        cluster,
        clock,
        idleMs,
        request: {
          kind: this.#kind,
          namespace: this.#namespace,
          resourceVersion: this.#progress.version ?? '',
          timeoutSeconds: 240 + Math.floor(this.#random() * 61),
        },
        onOpen: () => {
          this.#recovery.answered();
          this.#problem.worked('watch');
        },
        onLine: (line) => {
          if (line.type === 'event' && line.verb === 'ERROR') {
            recovery = this.#afterErrorEvent(line.object);
            stream.close();
            return undefined;
          }
          return this.#takeInLine(line, stream);
        },
      },
      signal,
    );
    this.#closeWhenListIsDue(stream);
    try {
      const end = await stream.run();
      return recovery ?? this.#afterEnd(end);
    } catch (error) {
      return this.#afterFailure(error, 'watch', signal);
    } finally {
      metrics.restarted();
    }
  }

  #takeInLine(line: WatchLine, stream: WatchStream): Promise<void> | void {
    if (line.type === 'unreadable') return this.#afterUnreadable(line.why, stream);
    const { verb, object } = line;
    if (verb === 'BOOKMARK') {
      const version = versionOf(object);
      return version === undefined ? this.#afterUnreadable('noVersion', stream) : this.#progress.reached(version);
    }
    const identity = findIdentity(object);
    if (!identity || !(verb === 'ADDED' || verb === 'MODIFIED' || verb === 'DELETED')) {
      return this.#afterUnreadable(identity ? 'unknownType' : 'noIdentity', stream);
    }
    const received = this.#progress.mark();
    const pending = this.#takeIn(identity, () =>
      verb === 'DELETED' ? this.#diff.observeDeleted(object, identity) : this.#diff.observe(object, identity),
    );
    if (!pending) return this.#progress.reached(identity.version, received);
    return pending.then(() => {
      if (!stream.signal.aborted) this.#progress.reached(identity.version, received);
    });
  }

  /** What one object changes is told to the handlers. A projection that throws is as a handler that throws. */
  #takeIn(identity: Identity, observe: () => ReturnType<ObjectDiff<T>['observe']>): Promise<void> | undefined {
    let events: ReturnType<ObjectDiff<T>['observe']>;
    try {
      events = observe();
    } catch (error) {
      this.#delivery.failed(identity.uid, error);
      return undefined;
    }
    return events.length === 0 ? undefined : this.#delivery.deliver(events);
  }

  /** An event was lost: it is counted, the stream goes on, and a list soon brings what was lost. */
  #afterUnreadable(why: string, stream: WatchStream): undefined {
    this.#deps.metrics.unreadableLine();
    if (!this.#progress.lostEvent()) return;
    this.#deps.logger.warn('a line of a watch could not be read', { resource: resourceOf[this.#kind], why });
    this.#closeWhenListIsDue(stream);
  }

  #closeWhenListIsDue(stream: WatchStream): void {
    const waitMs = this.#progress.listDueInMs;
    if (waitMs === undefined) return;
    // Rejected when the stream ends before: the next one is given a time limit of its own.
    this.#deps.clock.sleep(waitMs, stream.signal).then(
      () => stream.close(),
      () => {},
    );
  }

  #afterErrorEvent(status: RawObject): Recovery {
    if (status['code'] === 410) return this.#recovery.afterExpired(this.#progress.broughtNews);
    this.#deps.metrics.unreadableLine();
    this.#deps.logger.warn('a watch ended with an error', {
      resource: resourceOf[this.#kind],
      code: status['code'],
      reason: status['reason'],
    });
    return this.#recovery.afterErrorEvent(relistWithinMs);
  }

  #afterEnd(end: StreamEnd): Recovery {
    // A stream that was closed by us was closed for a list, or for good.
    if (end.how === 'closed') return { waitMs: 0, next: 'watch' };
    return end.how === 'idle' ? this.#recovery.afterIdle(end.bytes) : this.#recovery.afterEnd(end);
  }

  #afterFailure(error: unknown, during: 'list' | 'watch', signal: AbortSignal): Recovery {
    if (signal.aborted) return { waitMs: 0, next: during };
    const known = error instanceof ClusterError ? error : undefined;
    if (!known) this.#deps.logger.error('a list or watch failed in an unknown way', { kind: this.#kind, error });
    if (during === 'watch' && known?.code === 'gone') return this.#recovery.afterExpired(this.#progress.broughtNews);
    const recovery = this.#recovery.afterFailure(known, during);
    // The first 401 is answered by reading the credentials again, and is no problem yet.
    if (recovery.waitMs > 0) this.#problem.failed(during, known);
    return recovery;
  }
}

function versionOf(object: RawObject): string | undefined {
  const metadata = object['metadata'];
  if (typeof metadata !== 'object' || metadata === null || !('resourceVersion' in metadata)) return undefined;
  const version = metadata.resourceVersion;
  return typeof version === 'string' && version !== '' ? version : undefined;
}
