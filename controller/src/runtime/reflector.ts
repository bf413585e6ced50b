import { ClusterError, type Cluster, type RawObject, type WatchedKind } from '@cronjob-monitor/shared/kube';
import type { Clock, Logger } from '@cronjob-monitor/shared/process';
import type { ObjectCache } from './cache.ts';
import { ClusterOutage, WatchProblem, type WatchTrouble, WatchRecovery, type Recovery } from './watch-recovery.ts';
import { listAll, ListForm, type ListOffer } from './lists.ts';
import { ObjectDiff } from './object-diff.ts';
import {
  findIdentity,
  isObject,
  resourceOf,
  type EventHandler,
  type Identity,
  type Projected,
  type Projection,
  type ObjectEvent,
} from './objects.ts';
import { WatchProgress, type BlindSpan } from './watch-progress.ts';
import { WatchStream, type StreamEnd, type WatchLine } from './watch-stream.ts';

/** What a reflector counts; one for each kind, shared by its namespaces. */
export interface WatchMetrics {
  listed(): void;
  restarted(): void;
  unreadableLine(): void;
  handlerFailed(): void;
}

interface ReflectorDeps<T extends Projected> {
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
  /** Shared by all that watch one cluster. */
  readonly listOffer: ListOffer;
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

/** A list that comes as the beginning of a watch, until the mark of its end. */
interface StreamedList {
  readonly begun: ReturnType<WatchProgress['mark']>;
  isWhole: boolean;
}

/**
 * Keeps a cache in step with the cluster for one kind, and tells handlers what changes: list, watch from its version, and
 * again, without end. Where the server streams lists (WatchList), list and watch are one answer. It misses nothing while Kubernetes still has it; what it does after each kind of trouble is the table
 * of `WatchRecovery`.
 */
export class Reflector<T extends Projected> {
  readonly #deps: ReflectorDeps<T>;
  readonly #kind: WatchedKind;
  readonly #namespace: string | undefined;
  readonly #random: () => number;
  readonly #diff: ObjectDiff<T>;
  readonly #delivery: Delivery<T>;
  readonly #listForm: ListForm;
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
    this.#listForm = new ListForm(deps.listOffer, logger);
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
      const recovery = await this.#next(signal);
      if (recovery.next === 'list') this.#progress.forgetVersion();
      if (signal.aborted) return;
      if (recovery.waitMs > 0) await this.#deps.clock.sleep(recovery.waitMs, signal).catch(() => {});
    }
  }

  async #next(signal: AbortSignal): Promise<Recovery> {
    if (!this.#progress.listIsDue) return this.#watch(signal);
    try {
      if (!(await this.#listForm.isStream(signal))) return await this.#list(signal);
    } catch (error) {
      return this.#afterFailure(error, 'list', signal);
    }
    const list = { begun: this.#progress.mark(), isWhole: false };
    this.#deps.metrics.listed();
    this.#diff.beginList();
    return this.#watch(signal, list);
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
    const list = { cluster, kind: this.#kind, namespace: this.#namespace, onBegin, onItems };
    await this.#finishList(await listAll(list, signal), begun);
    this.#recovery.answered();
    this.#problem.worked('list');
    return { waitMs: 0, next: 'watch' };
  }

  async #finishList(version: string, begun: ReturnType<WatchProgress['mark']>): Promise<void> {
    await this.#delivery.deliver(this.#diff.finishList());
    const blind = this.#progress.listed(version, begun);
    if (blind) this.#deps.onBlind?.(blind);
  }

  async #takeInPage(items: readonly RawObject[]): Promise<void> {
    for (const raw of items) {
      const identity = findIdentity(raw);
      if (!identity) this.#delivery.failed('', new Error('an object of the list has no uid, name or resourceVersion'));
      else await this.#takeIn(identity, () => this.#diff.observe(raw, identity));
    }
  }

  /** `list`: the stream begins with it. */
  async #watch(signal: AbortSignal, list?: StreamedList): Promise<Recovery> {
    const { clock, cluster, metrics } = this.#deps;
    let recovery: Recovery | undefined;
    let isOpen = false;
    const endWith = (reaction: Recovery): undefined => {
      recovery = reaction;
      stream.close();
    };
    const stream = new WatchStream(
      {
        cluster,
        clock,
        idleMs,
        request: {
          kind: this.#kind,
          namespace: this.#namespace,
          resourceVersion: list ? undefined : this.#progress.version,
          timeoutSeconds: 240 + Math.floor(this.#random() * 61),
        },
        onOpen: () => {
          isOpen = true;
          this.#recovery.answered();
          this.#problem.worked('watch');
        },
        onLine: (line) => {
          if (line.type === 'event' && line.verb === 'ERROR') return endWith(this.#afterErrorEvent(line.object, list));
          if (list?.isWhole !== false) return this.#takeInLine(line, stream);
          const pending = this.#takeInListed(line, list);
          return pending === 'unreadable' ? endWith(this.#afterUnlisted(line)) : pending;
        },
      },
      signal,
    );
    if (!list) this.#closeWhenListIsDue(stream);
    try {
      const end = await stream.run();
      return recovery ?? (await this.#afterEnd(end, list, signal));
    } catch (error) {
      const isRefused = error instanceof ClusterError && (error.code === 'invalid' || error.code === 'gone');
      if (list?.isWhole === false && isRefused) return this.#inPages('refused');
      if (list?.isWhole === false && isOpen && !signal.aborted) this.#listForm.unfinished('cut');
      return this.#afterFailure(error, 'watch', signal);
    } finally {
      metrics.restarted();
    }
  }

  /**
   * A line of a list that is not whole yet: it names no version from which a watch could go on. The object of one that cannot be read would
   * be taken for one that is gone.
   */
  #takeInListed(line: WatchLine, list: StreamedList): Promise<void> | 'unreadable' | undefined {
    if (line.type === 'unreadable') return line.why === 'cut' ? undefined : 'unreadable'; // the connection ends with what it cut
    const { verb, object } = line;
    if (verb === 'BOOKMARK') {
      const version = versionOf(object);
      if (version === undefined) return 'unreadable';
      return marksEnd(object) ? this.#finishStreamed(version, list) : undefined;
    }
    const identity = findIdentity(object);
    if (!identity || !isChange(verb)) return 'unreadable';
    return this.#takeIn(identity, () => this.#observe(verb, object, identity));
  }

  async #finishStreamed(version: string, list: StreamedList): Promise<void> {
    await this.#finishList(version, list.begun);
    list.isWhole = true;
    this.#listForm.finished();
    this.#problem.worked('list');
    this.#problem.worked('watch');
  }

  #takeInLine(line: WatchLine, stream: WatchStream): Promise<void> | void {
    if (line.type === 'unreadable') return this.#afterUnreadable(line.why, stream);
    const { verb, object } = line;
    if (verb === 'BOOKMARK') {
      const version = versionOf(object);
      return version === undefined ? this.#afterUnreadable('noVersion', stream) : this.#progress.reached(version);
    }
    const identity = findIdentity(object);
    if (!identity || !isChange(verb)) return this.#afterUnreadable(identity ? 'unknownType' : 'noIdentity', stream);
    const received = this.#progress.mark();
    const pending = this.#takeIn(identity, () => this.#observe(verb, object, identity));
    if (!pending) return this.#progress.reached(identity.version, received);
    return pending.then(() => {
      if (!stream.signal.aborted) this.#progress.reached(identity.version, received);
    });
  }

  #observe(verb: Change, object: RawObject, identity: Identity): ReturnType<ObjectDiff<T>['observe']> {
    return verb === 'DELETED' ? this.#diff.observeDeleted(object, identity) : this.#diff.observe(object, identity);
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

  #afterErrorEvent(status: RawObject, list: StreamedList | undefined): Recovery {
    if (list?.isWhole === false) this.#listForm.unfinished('cut');
    if (status['code'] === 410) return this.#recovery.afterExpired(this.#progress.broughtNews);
    this.#deps.metrics.unreadableLine();
    this.#deps.logger.warn('a watch ended with an error', {
      resource: resourceOf[this.#kind],
      code: status['code'],
      reason: status['reason'],
    });
    return this.#recovery.afterErrorEvent(relistWithinMs);
  }

  #afterUnlisted(line: WatchLine): Recovery {
    this.#deps.metrics.unreadableLine();
    const why = line.type === 'unreadable' ? line.why : 'noEvent';
    this.#deps.logger.warn('a line of a list could not be read', { resource: resourceOf[this.#kind], why });
    return this.#inPages('unreadable');
  }

  #inPages(why: 'refused' | 'silent' | 'unreadable'): Recovery {
    this.#listForm.unfinished(why);
    return { waitMs: 0, next: 'list' };
  }

  async #afterEnd(end: StreamEnd, list: StreamedList | undefined, signal: AbortSignal): Promise<Recovery> {
    // A stream that was closed by us was closed for a list, or for good.
    if (end.how === 'closed') return { waitMs: 0, next: 'watch' };
    if (list?.isWhole === false) {
      if (end.how === 'idle') return this.#inPages('silent');
      this.#listForm.unfinished('cut');
      return this.#recovery.afterFailure(undefined, 'list');
    }
    if (end.how !== 'idle') return this.#recovery.afterEnd(end);
    return this.#recovery.afterIdle(end.bytes, () => this.#isServerBehind(signal));
  }

  /** Versions of one server are counted (Kubernetes 1.35 promises that). One that is no number is not known to be behind or ahead. */
  async #isServerBehind(signal: AbortSignal): Promise<boolean> {
    const page = { kind: this.#kind, namespace: this.#namespace, limit: 1 };
    const { resourceVersion } = await this.#deps.cluster.listPage(page, signal);
    const own = this.#progress.version ?? '';
    if (![resourceVersion, own].every((version) => /^\d+$/.test(version))) return true;
    return BigInt(resourceVersion) < BigInt(own);
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

type Change = 'ADDED' | 'MODIFIED' | 'DELETED';

function isChange(verb: string): verb is Change {
  return verb === 'ADDED' || verb === 'MODIFIED' || verb === 'DELETED';
}

/** The bookmark after the last object of a streamed list. */
function marksEnd({ metadata }: RawObject): boolean {
  const annotations = isObject(metadata) ? metadata['annotations'] : undefined;
  return isObject(annotations) && annotations['k8s.io/initial-events-end'] === 'true';
}

function versionOf(object: RawObject): string | undefined {
  const metadata = object['metadata'];
  if (typeof metadata !== 'object' || metadata === null || !('resourceVersion' in metadata)) return undefined;
  const version = metadata.resourceVersion;
  return typeof version === 'string' && version !== '' ? version : undefined;
}

/**
 * Hands events to the handlers, one event after the other, in the order of arrival. A handler that throws loses that event
 * for itself alone: it is counted, logged with the UID, and everything else goes on.
 */
export class Delivery<T extends Projected> {
  readonly #handlers: readonly EventHandler<T>[];
  readonly #logger: Logger;
  readonly #onFailure: () => void;

  /** `onFailure` counts a handler, or a projection, that threw. */
  constructor(deps: {
    readonly handlers: readonly EventHandler<T>[];
    readonly logger: Logger;
    readonly onFailure: () => void;
  }) {
    this.#handlers = deps.handlers;
    this.#logger = deps.logger;
    this.#onFailure = deps.onFailure;
  }

  /** Resolves when the handlers are done with it; undefined when they already are, which spares the usual case a turn. */
  deliver(events: readonly ObjectEvent<T>[]): Promise<void> | undefined {
    let pending: Promise<void> | undefined;
    for (const event of events) {
      for (const handler of this.#handlers) {
        // A handler that waits makes the later ones wait too, so that each sees the events in one order.
        if (pending) pending = pending.then(() => this.#call(handler, event));
        else pending = this.#call(handler, event);
      }
    }
    return pending;
  }

  failed(uid: string, error: unknown): void {
    this.#onFailure();
    this.#logger.error('an event could not be taken in', { uid, error });
  }

  #call(handler: EventHandler<T>, event: ObjectEvent<T>): Promise<void> | undefined {
    try {
      const pending = handler(event);
      if (!(pending instanceof Promise)) return undefined;
      return pending.catch((error: unknown) => this.failed(event.item.uid, error));
    } catch (error) {
      this.failed(event.item.uid, error);
      return undefined;
    }
  }
}
