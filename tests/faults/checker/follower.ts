import { setTimeout as wait } from 'node:timers/promises';
import { apiRequest, apiStream, type ApiAddress } from '../../realcluster/api-request.ts';

// oxlint-disable-next-line typescript/no-explicit-any -- objects of a foreign server, looked into by tests
export type Raw = any;

interface Told {
  /** An object as it is now; told again and again. */
  readonly seen: (object: Raw) => void;
  /** It is no longer there. */
  readonly gone: (uid: string) => void;
}

/** Follows one resource of a cluster with a client of its own: it lists, watches from there, and lists again when it must. */
export class Follower {
  readonly #address: ApiAddress;
  readonly #path: string;
  readonly #told: Told;
  readonly #ended = new AbortController();
  readonly #present = new Set<string>();
  #following: Promise<void> = Promise.resolve();
  /** Its watch is open now: it sees what happens as it happens. */
  isAwake = false;

  private constructor(address: ApiAddress, path: string, told: Told) {
    this.#address = address;
    this.#path = path;
    this.#told = told;
  }

  /** Resolves when the first list is read; from then on nothing is missed that the cluster tells. */
  static async start(address: ApiAddress, path: string, told: Told): Promise<Follower> {
    const follower = new Follower(address, path, told);
    const version = await follower.#list();
    follower.#following = follower.#follow(version);
    return follower;
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#following;
  }

  async #follow(first: string): Promise<void> {
    let version: string | undefined = first;
    while (!this.#ended.signal.aborted) {
      try {
        version = await this.#watch(version ?? (await this.#list()));
      } catch {
        if (this.#ended.signal.aborted) return;
        await wait(100); // the API server is away: what counts is what it tells when it is back
      } finally {
        this.isAwake = false;
      }
    }
  }

  async #list(): Promise<string> {
    const { status, body } = await apiRequest(this.#address, 'GET', this.#path, { signal: this.#ended.signal });
    if (status !== 200) throw new Error(`${this.#path}: ${status}`);
    const listed = new Set<string>(body.items.map((item: Raw) => item.metadata.uid));
    for (const item of body.items) this.#take('ADDED', item);
    for (const uid of this.#present) if (!listed.has(uid)) this.#miss(uid);
    return body.metadata.resourceVersion;
  }

  /** Follows one watch to its end. Returns the version to go on from; undefined: only a list can help. */
  async #watch(from: string): Promise<string | undefined> {
    const path = `${this.#path}?watch=1&allowWatchBookmarks=true&timeoutSeconds=600&resourceVersion=${from}`;
    const { status, chunks } = await apiStream(this.#address, 'GET', path, { signal: this.#ended.signal });
    if (status === 410) return undefined;
    if (status !== 200) throw new Error(`${path}: ${status}`);
    this.isAwake = true;
    let version: string | undefined = from;
    try {
      for await (const line of linesOf(chunks)) {
        const { type, object } = JSON.parse(line);
        if (type === 'ERROR') return undefined;
        version = object.metadata.resourceVersion;
        if (type !== 'BOOKMARK') this.#take(type, object);
      }
    } catch (error) {
      if (this.#ended.signal.aborted) throw error; // else it was cut, and goes on from where it was
    }
    return version;
  }

  #take(type: string, object: Raw): void {
    const { uid } = object.metadata;
    this.#told.seen(object);
    if (type === 'DELETED') this.#miss(uid);
    else this.#present.add(uid);
  }

  #miss(uid: string): void {
    this.#present.delete(uid);
    this.#told.gone(uid);
  }
}

async function* linesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
