import type { Cluster, ListPage, ListRequest, RawObject, WatchRequest } from '../kube/index.ts';
import type { Clock } from '../process/index.ts';

/** One watch in the hands of a test: what it sends arrives in the same pieces. */
export class ScriptedWatch implements AsyncIterable<Uint8Array> {
  readonly #pieces: (Uint8Array | Error | 'end')[] = [];
  #wake: () => void = () => {};
  /** The reader asked for so many pieces. */
  reads = 0;

  /** One event, as a whole line. */
  event(type: string, object: object): this {
    return this.text(`${JSON.stringify({ type, object })}\n`);
  }

  text(text: string): this {
    return this.#push(Buffer.from(text));
  }

  /** The server ends the watch. */
  end(): this {
    return this.#push('end');
  }

  /** The connection breaks. */
  fail(error: Error): this {
    return this.#push(error);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      this.reads += 1;
      while (this.#pieces.length === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
      const piece = this.#pieces.shift();
      if (piece === 'end' || piece === undefined) return;
      if (piece instanceof Error) throw piece;
      yield piece;
    }
  }

  #push(piece: Uint8Array | Error | 'end'): this {
    this.#pieces.push(piece);
    this.#wake();
    return this;
  }
}

interface AskedList extends ListRequest {
  /** On the monotonic clock. */
  readonly atMs: number;
}

interface AskedWatch extends WatchRequest {
  readonly atMs: number;
  readonly signal: AbortSignal;
}

/** Answers lists and watches in the order in which a test laid the answers down; without one it hangs, as a dead server does. */
export class ScriptedCluster implements Pick<Cluster, 'listPage' | 'watch' | 'reloadCredentials' | 'version'> {
  readonly lists: AskedList[] = [];
  readonly watches: AskedWatch[] = [];
  reloads = 0;
  /** How often it was asked for its release. */
  asked = 0;
  /** What it says then. */
  release: string | Error;
  readonly #clock: Clock;
  readonly #pages: (ListPage | Error)[] = [];
  readonly #streams: (AsyncIterable<Uint8Array> | Error)[] = [];

  constructor(clock: Clock, release: string | Error = 'v1.31.0') {
    this.#clock = clock;
    this.release = release;
  }

  /** The next pages, each one answer. */
  willList(...pages: (ListPage | Error)[]): this {
    this.#pages.push(...pages);
    return this;
  }

  /** The next watches, or why they are refused. */
  willWatch(...streams: (AsyncIterable<Uint8Array> | Error)[]): this {
    this.#streams.push(...streams);
    return this;
  }

  async listPage(request: ListRequest, signal: AbortSignal): Promise<ListPage> {
    this.lists.push({ ...request, atMs: this.#clock.monotonicMs() });
    const page = this.#pages.shift();
    return page === undefined ? hangUntil(signal) : answer(page);
  }

  async watch(request: WatchRequest, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    this.watches.push({ ...request, atMs: this.#clock.monotonicMs(), signal });
    const stream = this.#streams.shift();
    return stream === undefined ? hangUntil(signal) : answer(stream);
  }

  async version(): Promise<string> {
    this.asked += 1;
    return answer(this.release);
  }

  reloadCredentials(): void {
    this.reloads += 1;
  }
}

/** A page as an API server sends it; without `continueToken` the last one. */
export function aPage(resourceVersion: string, items: readonly RawObject[], continueToken?: string): ListPage {
  return { items, resourceVersion, continueToken };
}

/** The least that every object has: enough to be listed, watched and told apart. */
export function aRawObject(uid: string, version: string, name: string = uid, namespace = 'prod'): RawObject {
  return { metadata: { uid, name, namespace, resourceVersion: version } };
}

async function answer<T>(scripted: T | Error): Promise<T> {
  if (scripted instanceof Error) throw scripted;
  return scripted;
}

function hangUntil(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
