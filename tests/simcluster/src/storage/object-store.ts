import type { SimClock } from '../time/sim-clock.ts';
import { keyOf, type KubeObject, type ObjectMeta } from './kube-object.ts';
import { ResourceTable, type Change } from './resource-table.ts';

type ChangeListener = (change: Change) => void;

interface StoreOptions {
  readonly clock: SimClock;
  /** The version before the first write. Above 1, so that version 1 is too old from the start, as on a cluster that lived. */
  readonly firstVersion: number;
  /** How long changes are kept for watches. */
  readonly keepChangesMs: number;
  /** How long old states are kept for lists; as long as changes at most. */
  readonly keepPagesMs: number;
}

/** The version of the first write at or after an instant. */
interface PageMark {
  readonly at: number;
  readonly version: number;
}

const markEveryMs = 1_000;

/**
 * All objects of the cluster. Every write takes the next number of one counter and is told to all listeners before it
 * returns. Objects are immutable: a write hands in a new one.
 */
export class ObjectStore {
  readonly #clock: SimClock;
  readonly #keepChangesMs: number;
  readonly #keepPagesMs: number;
  #pageMarks: PageMark[] = [];
  readonly #tables = new Map<string, ResourceTable>();
  readonly #listeners = new Set<ChangeListener>();
  #version: number;
  #compacted: number;
  #writesUntilCleaning = 0;

  constructor(options: StoreOptions) {
    this.#clock = options.clock;
    this.#keepChangesMs = options.keepChangesMs;
    this.#keepPagesMs = options.keepPagesMs;
    this.#version = options.firstVersion;
    this.#compacted = options.firstVersion;
  }

  /** The version of the newest write. */
  get version(): number {
    return this.#version;
  }

  table(resource: string): ResourceTable {
    let table = this.#tables.get(resource);
    if (table === undefined) {
      table = new ResourceTable();
      this.#tables.set(resource, table);
    }
    return table;
  }

  get(resource: string, namespace: string | undefined, name: string): KubeObject | undefined {
    return this.table(resource).get(keyOf(namespace, name));
  }

  /** Stores a new object under a new version. The key must be free. */
  create(resource: string, object: KubeObject): KubeObject {
    return this.#write('ADDED', resource, object, undefined);
  }

  /** Stores a new state of an object under a new version. */
  update(resource: string, object: KubeObject): KubeObject {
    const previous = this.get(resource, object.metadata.namespace, object.metadata.name);
    if (previous === undefined) throw new Error(`${resource} ${object.metadata.name} is gone`);
    return this.#write('MODIFIED', resource, object, previous);
  }

  /** Takes an object out. Watches see its last state under the version of the removal, which is also returned. */
  remove(resource: string, object: KubeObject): KubeObject {
    return this.#write('DELETED', resource, object, object);
  }

  /** Told synchronously of every write. Returns the way out. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Forgets all old states: what asks for one is told that it is too old. */
  compact(): void {
    this.#compacted = this.#version;
    for (const table of this.#tables.values()) table.dropUntil(this.#version);
  }

  /** The oldest version from which a watch of this resource can still start. */
  oldestVersion(resource: string): number {
    return Math.max(this.#compacted, this.table(resource).droppedVersion);
  }

  /** The oldest version whose state a list of this resource can still show. */
  oldestPage(resource: string): number {
    const until = this.#clock.now() - this.#keepPagesMs;
    let outlived = 0;
    for (const { at, version } of this.#pageMarks) {
      if (at > until) break;
      outlived = version;
    }
    return Math.max(outlived, this.oldestVersion(resource));
  }

  #write(type: Change['type'], resource: string, object: KubeObject, previous: KubeObject | undefined): KubeObject {
    this.#version++;
    const metadata: ObjectMeta = { ...object.metadata, resourceVersion: String(this.#version) };
    const stored: KubeObject = { ...object, metadata };
    const key = keyOf(metadata.namespace, metadata.name);
    const at = this.#clock.now();
    if (at >= (this.#pageMarks.at(-1)?.at ?? -Infinity) + markEveryMs) {
      this.#pageMarks.push({ at, version: this.#version });
    }
    const change: Change = { type, resource, key, version: this.#version, at, object: stored, previous };
    this.table(resource).apply(change);
    for (const listener of this.#listeners) listener(change);
    this.#clean(at);
    return stored;
  }

  #clean(at: number): void {
    if (--this.#writesUntilCleaning > 0) return;
    this.#writesUntilCleaning = 500;
    for (const table of this.#tables.values()) table.dropOlderThan(at - this.#keepChangesMs);
    this.#pageMarks = this.#pageMarks.filter((mark) => mark.at >= at - 2 * this.#keepPagesMs);
  }
}
