import type { Cluster, WatchRequest } from '@cronjob-monitor/shared/kube';
import type { Clock } from '@cronjob-monitor/shared/process';
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

/** The longest line of a watch that is read: twice what the storage of an API server accepts for one object, and more. */
export const maxLineBytes = 8 * 1024 * 1024;

/** One line of a watch, or word of a line that cannot be had: over the cap, or cut off by the end of the stream. */
export type Line =
  | { readonly type: 'line'; readonly text: string }
  | { readonly type: 'tooLong' }
  | { readonly type: 'cut'; readonly text: string };

const newline = 0x0a;

/**
 * Splits the bytes of one watch into lines. Chunks end anywhere, also inside a character. A line over the cap is told once,
 * when it passes the cap, and its rest is dropped unread, so that memory stays bounded. Empty lines are skipped.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #bytes = 0;
  #dropping = false;

  constructor(maxBytes: number = maxLineBytes) {
    this.#maxBytes = maxBytes;
  }

  /** The lines that this chunk completes. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(newline, from);
      this.#keep(chunk.subarray(from, end === -1 ? chunk.length : end), lines);
      if (end === -1) return lines;
      this.#finish(lines);
      from = end + 1;
    }
  }

  /** What stood after the last newline when the stream ended: undefined when nothing did. */
  end(): Line | undefined {
    const text = this.#dropping ? '' : this.#take();
    this.#dropping = false;
    return text === '' ? undefined : { type: 'cut', text };
  }

  #keep(part: Uint8Array, lines: Line[]): void {
    if (this.#dropping || part.length === 0) return;
    if (this.#bytes + part.length > this.#maxBytes) {
      this.#take();
      this.#dropping = true;
      lines.push({ type: 'tooLong' });
      return;
    }
    this.#parts.push(part);
    this.#bytes += part.length;
  }

  #finish(lines: Line[]): void {
    if (this.#dropping) {
      this.#dropping = false;
      return;
    }
    const text = this.#take();
    if (text !== '') lines.push({ type: 'line', text });
  }

  #take(): string {
    const [first] = this.#parts;
    const whole =
      this.#parts.length === 1 && first
        ? Buffer.from(first.buffer, first.byteOffset, first.length)
        : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#bytes = 0;
    return whole.toString('utf8').trim();
  }
}
