import { failure } from '../http/api-error.ts';
import type { ApiRequest } from '../http/api-request.ts';
import type { Fields } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { emptyOf } from '../schema/decode.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Change } from '../storage/resource-table.ts';
import type { PendingCall } from '../time/sim-clock.ts';
import { collectionMatches } from './list.ts';
import type { Matches } from './selector.ts';
import type { VerbDeps } from './verb-deps.ts';
import type { WatchOptions } from './watch-options.ts';

export type WatchEventType = Change['type'] | 'BOOKMARK' | 'ERROR';

/** Where the events of one watch go. */
export interface WatchSink {
  send(type: WatchEventType, object: Fields | KubeObject): void;
  /** Whether its client keeps up; if not, `goOn` is called once it does. */
  whenRoom(goOn: () => void): boolean;
  /** The watch is over by itself. */
  end(): void;
}

const minuteMs = 60_000;
/** A bookmark comes this long before a watch ends by time. */
const lastBookmarkMs = 2_000;
/** The real server sends bookmarks from a loop that runs about once a second. */
const loopDelayMs = 300;
/** After a streaming list the first rounds of that loop bring bookmarks too. */
const earlyBookmarksMs = [470, 1_700];
const shortestTimeoutMs = 1_800_000;

/** One watch from its start to its end. */
export class Watch {
  readonly #kind: Kind;
  readonly #namespace: string | undefined;
  readonly #matches: Matches | undefined;
  readonly #options: WatchOptions;
  readonly #sink: WatchSink;
  readonly #deps: VerbDeps;
  readonly #timers = new Set<PendingCall>();
  #leave: (() => void) | undefined;
  #over = false;
  /** What changed while the objects that were there are still being told. */
  #waiting: Change[] | undefined;

  constructor(request: ApiRequest, options: WatchOptions, sink: WatchSink, deps: VerbDeps) {
    this.#kind = request.kind;
    this.#namespace = request.namespace;
    this.#matches = collectionMatches(request);
    this.#options = options;
    this.#sink = sink;
    this.#deps = deps;
  }

  start(): void {
    const { store } = this.#deps;
    const resource = this.#kind.storedAs;
    const after = this.#options.after ?? store.version;
    const oldest = store.oldestVersion(resource);
    if (after < oldest) {
      const message = `too old resource version: ${after} (${oldest})`;
      this.#sink.send('ERROR', failure({ code: 410, reason: 'Expired', message }));
      this.stop();
      this.#sink.end();
      return;
    }
    if (this.#options.initialEvents) this.#beginInitial();
    else for (const change of store.table(resource).changesAfter(after)) this.#pass(change);
    this.#leave = store.subscribe((change) => {
      if (change.resource === resource && change.version > after) this.#pass(change);
    });
    this.#scheduleEnd();
  }

  /** Ends the watch without a word: its client is gone, or the server stops. */
  stop(): void {
    this.#over = true;
    this.#leave?.();
    for (const timer of this.#timers) timer.cancel();
    this.#timers.clear();
  }

  /** The objects as they are now, as fast as the client reads them; then the mark of their end, then what has changed meanwhile. */
  #beginInitial(): void {
    const { store } = this.#deps;
    const endedAs = this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
    this.#waiting = [];
    this.#sendInitial([...store.table(this.#kind.storedAs).objects(this.#namespace)].values(), endedAs);
  }

  #sendInitial(objects: IterableIterator<KubeObject>, endedAs: Fields): void {
    if (this.#over) return;
    for (const object of objects) {
      if (this.#matches?.(object) ?? true) this.#sink.send('ADDED', object);
      if (!this.#sink.whenRoom(() => this.#sendInitial(objects, endedAs))) return;
    }
    if (this.#options.bookmarks) {
      this.#sink.send('BOOKMARK', endedAs);
      for (const delayMs of earlyBookmarksMs) this.#after(delayMs, () => this.#sink.send('BOOKMARK', this.#bookmark()));
    }
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const change of waiting) this.#pass(change);
  }

  /** What the change means to this watch: an object may start or stop to match. */
  #pass(change: Change): void {
    if (this.#over) return;
    if (this.#waiting) {
      this.#waiting.push(change);
      return;
    }
    if (this.#namespace !== undefined && change.object.metadata.namespace !== this.#namespace) return;
    const matches = this.#matches ?? (() => true);
    const before = change.previous !== undefined && matches(change.previous);
    const now = change.type !== 'DELETED' && matches(change.object);
    if (now) {
      this.#sink.send(before ? 'MODIFIED' : 'ADDED', change.object);
    } else if (before && change.previous !== undefined) {
      // The last state that matched, under the version at which it stopped to.
      const { metadata } = change.previous;
      const gone = { ...metadata, resourceVersion: change.object.metadata.resourceVersion };
      this.#sink.send('DELETED', change.type === 'DELETED' ? change.object : { ...change.previous, metadata: gone });
    }
  }

  #bookmark(annotations?: Fields): Fields {
    const metadata: Fields = {
      resourceVersion: String(this.#deps.store.version),
      ...(annotations === undefined ? {} : { annotations }),
    };
    const type = this.#kind.traits.type;
    const empty = type === undefined ? {} : emptyOf(type);
    return { ...empty, kind: this.#kind.kind, apiVersion: apiVersionOf(this.#kind), metadata };
  }

  #scheduleEnd(): void {
    const { timeoutSeconds, bookmarks } = this.#options;
    const timeoutMs = timeoutSeconds === undefined ? shortestTimeoutMs : timeoutSeconds * 1_000;
    this.#after(timeoutMs, () => {
      this.stop();
      this.#sink.end();
    });
    if (!bookmarks) return;
    this.#minuteBookmark();
    if (timeoutSeconds !== undefined && timeoutMs > lastBookmarkMs) {
      this.#after(timeoutMs - lastBookmarkMs + loopDelayMs, () => this.#sink.send('BOOKMARK', this.#bookmark()));
    }
  }

  #minuteBookmark(): void {
    this.#after(minuteMs + loopDelayMs, () => {
      this.#sink.send('BOOKMARK', this.#bookmark());
      this.#minuteBookmark();
    });
  }

  #after(delayMs: number, fn: () => void): void {
    const { clock } = this.#deps;
    const timer = clock.callAt(clock.now() + delayMs, () => {
      this.#timers.delete(timer);
      fn();
    });
    this.#timers.add(timer);
  }
}
