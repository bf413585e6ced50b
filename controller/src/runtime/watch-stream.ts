import type { Cluster, WatchRequest } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
import { type Line, LineSplitter } from './lines.ts';
import { isObject } from './objects.ts';

/** One event of a watch as it stands in its line, or word of a line that is none. */
export type WatchLine =
  | { readonly type: 'event'; readonly verb: string; readonly object: Readonly<Record<string, unknown>> }
  | { readonly type: 'unreadable'; readonly why: 'notJson' | 'noEvent' | 'tooLong' | 'cut' };

interface StreamDeps {
  readonly cluster: Pick<Cluster, 'watch'>;
  readonly clock: Clock;
  readonly request: WatchRequest;
  /** Without a byte for so long the connection is taken for dead. */
  readonly idleMs: number;
  readonly onOpen: () => void;
  /** Awaited before the next line is looked at, and before more bytes are read: a slow consumer stops the reading. */
  readonly onLine: (line: WatchLine) => Promise<void> | void;
}

/** `ended`: by the server. `idle`: given up by us. `closed`: by `close` or by the caller's signal. */
export interface StreamEnd {
  readonly how: 'ended' | 'idle' | 'closed';
  /** From the answer of the server to the end. */
  readonly lastedMs: number;
  readonly events: number;
  readonly bytes: number;
}

/**
 * One watch, from the request to its end. Whatever of it is still under way after its end (bytes in a buffer, lines of the
 * same chunk) belongs to a stream that is no more and is dropped.
 */
export class WatchStream {
  readonly #deps: StreamDeps;
  readonly #abort: ChildAbort;
  readonly #splitter = new LineSplitter();
  #isIdle = false;
  #openedAtMs: number | undefined;
  #events = 0;
  #bytes = 0;
  /** Since when the server is awaited; undefined while the consumer works, for then silence proves nothing. */
  #waitingSinceMs: number | undefined;

  constructor(deps: StreamDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#abort = createChildAbort(signal);
  }

  /** Aborted when the stream is over. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  close(): void {
    this.#abort.abort(new Error('the watch was closed'));
  }

  /** Resolves at the end of the watch. Throws `ClusterError` when it could not be opened or broke. */
  async run(): Promise<StreamEnd> {
    const guard = this.#guardIdle();
    try {
      const isEnded = await this.#read();
      const now = this.#deps.clock.monotonicMs();
      const how = isEnded ? 'ended' : this.#isIdle ? 'idle' : 'closed';
      return { how, lastedMs: now - (this.#openedAtMs ?? now), events: this.#events, bytes: this.#bytes };
    } finally {
      this.close();
      this.#abort.unlink();
      await guard;
    }
  }

  /** True when the server ended the watch, false when we did. */
  async #read(): Promise<boolean> {
    const opened = await this.#fromServer(this.#deps.cluster.watch(this.#deps.request, this.signal));
    if (!opened) return false;
    this.#openedAtMs = this.#deps.clock.monotonicMs();
    this.#deps.onOpen();

    const chunks = opened[Symbol.asyncIterator]();
    try {
      for (;;) {
        const next = await this.#fromServer(chunks.next());
        if (!next) return false;
        if (next.done) return true;
        this.#bytes += next.value.length;
        await this.#takeIn(this.#splitter.push(next.value));
        if (this.signal.aborted) return false;
      }
    } finally {
      const rest = this.#splitter.end();
      if (rest && !this.signal.aborted) await this.#takeIn([rest]);
      // What the reader of the connection has to tidy up; no caller waits for it, and its troubles are those of a dead stream.
      chunks.return?.().catch(() => {});
    }
  }

  async #takeIn(lines: readonly Line[]): Promise<void> {
    for (const line of lines) {
      const read = toWatchLine(line);
      if (read.type === 'event') this.#events += 1;
      const pending = this.#deps.onLine(read);
      if (pending) await this.#orClosed(pending);
      if (this.signal.aborted) return;
    }
  }

  async #fromServer<V>(promise: Promise<V>): Promise<V | undefined> {
    this.#waitingSinceMs = this.#deps.clock.monotonicMs();
    try {
      return await this.#orClosed(promise);
    } finally {
      this.#waitingSinceMs = undefined;
    }
  }

  /** The promise's value; undefined as soon as the stream is over, even when the promise never settles. */
  #orClosed<V>(promise: Promise<V>): Promise<V | undefined> {
    const { signal } = this;
    return new Promise((resolve, reject) => {
      const onAbort = () => resolve(undefined);
      if (signal.aborted) onAbort();
      else signal.addEventListener('abort', onAbort, { once: true });
      promise.then(
        (value) => {
          signal.removeEventListener('abort', onAbort);
          resolve(value);
        },
        (error: unknown) => {
          signal.removeEventListener('abort', onAbort);
          reject(error);
        },
      );
    });
  }

  async #guardIdle(): Promise<void> {
    const { clock, idleMs } = this.#deps;
    try {
      for (;;) {
        const quietMs = this.#waitingSinceMs === undefined ? 0 : clock.monotonicMs() - this.#waitingSinceMs;
        if (quietMs >= idleMs) break;
        await clock.sleep(idleMs - quietMs, this.signal);
      }
    } catch {
      return; // The stream is over, which is what ends the sleep.
    }
    this.#isIdle = true;
    this.close();
  }
}

function toWatchLine(line: Line): WatchLine {
  if (line.type === 'tooLong') return { type: 'unreadable', why: 'tooLong' };
  const value = parseJson(line.text);
  if (value === undefined) return { type: 'unreadable', why: line.type === 'cut' ? 'cut' : 'notJson' };
  if (!isObject(value) || typeof value['type'] !== 'string' || !isObject(value['object'])) {
    return { type: 'unreadable', why: 'noEvent' };
  }
  return { type: 'event', verb: value['type'], object: value['object'] };
}

function parseJson(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined; // Told as an unreadable line; the parser's words would quote a stranger's bytes.
  }
}

/** An abort controller that its parent aborts too, until `unlink`: a parent outlives thousands of children. */
interface ChildAbort {
  readonly signal: AbortSignal;
  abort(reason?: unknown): void;
  unlink(): void;
}

function createChildAbort(parent: AbortSignal): ChildAbort {
  const controller = new AbortController();
  const follow = () => controller.abort(parent.reason);
  if (parent.aborted) follow();
  else parent.addEventListener('abort', follow, { once: true });
  return {
    signal: controller.signal,
    abort: (reason) => controller.abort(reason),
    unlink: () => parent.removeEventListener('abort', follow),
  };
}
