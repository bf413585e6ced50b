import type { WatchedKind } from '@cronjob-monitor/shared/kube';

/** An object as an API server holds it. */
export interface WorldObject {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly resourceVersion: string;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

export interface WorldEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly namespace: string | undefined;
  /** As a line of a watch. */
  readonly line: Uint8Array;
}

/** What is put: everything but the version, which the world gives. */
export interface Given {
  readonly metadata: {
    readonly uid: string;
    readonly name: string;
    readonly namespace?: string | undefined;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** The objects of a cluster and the events about them, as an API server keeps them: one version for each change. */
export class World {
  #version = 100;
  readonly #objects = new Map<WatchedKind, Map<string, WorldObject>>();
  readonly #events = new Map<WatchedKind, WorldEvent[]>();
  /** Events before this version were thrown away: a watch from there is answered with 410. */
  #oldestVersion = 0;
  readonly #listeners = new Set<(kind: WatchedKind) => void>();

  get version(): number {
    return this.#version;
  }

  list(kind: WatchedKind): WorldObject[] {
    return [...this.#of(kind).values()];
  }

  find(kind: WatchedKind, namespace: string, name: string): WorldObject | undefined {
    return this.#of(kind).get(`${namespace}/${name}`);
  }

  put(kind: WatchedKind, given: Given): WorldObject {
    const key = keyOf(given);
    const type = this.#of(kind).has(key) ? 'MODIFIED' : 'ADDED';
    const object: WorldObject = {
      ...given,
      metadata: { ...given.metadata, resourceVersion: String(++this.#version) },
    };
    this.#of(kind).set(key, object);
    this.#tell(kind, type, object);
    return object;
  }

  remove(kind: WatchedKind, namespace: string, name: string): void {
    const object = this.find(kind, namespace, name);
    if (!object) return;
    this.#of(kind).delete(`${namespace}/${name}`);
    const version = String(++this.#version);
    this.#tell(kind, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: version } });
  }

  /** Events of the kind after the version; undefined: some of them are thrown away. */
  eventsAfter(kind: WatchedKind, version: number): readonly WorldEvent[] | undefined {
    if (version < this.#oldestVersion) return undefined;
    const events = this.#events.get(kind) ?? [];
    return events.slice(events.findLastIndex((event) => event.version <= version) + 1);
  }

  /** The server compacts: what happened until now is not told to watchers any more. */
  forgetEvents(): void {
    this.#oldestVersion = ++this.#version;
    this.#events.clear();
  }

  onEvent(listener: (kind: WatchedKind) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #of(kind: WatchedKind): Map<string, WorldObject> {
    let objects = this.#objects.get(kind);
    if (!objects) this.#objects.set(kind, (objects = new Map()));
    return objects;
  }

  #tell(kind: WatchedKind, type: WorldEvent['type'], object: WorldObject): void {
    const line = Buffer.from(`${JSON.stringify({ type, object })}\n`);
    const event = { type, version: this.#version, namespace: object.metadata.namespace, line };
    const events = this.#events.get(kind);
    if (events) events.push(event);
    else this.#events.set(kind, [event]);
    for (const listener of this.#listeners) listener(kind);
  }
}

function keyOf({ metadata }: Given): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
