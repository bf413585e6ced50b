import { keyOf, type KubeObject } from './kube-object.ts';

type ChangeType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** One write. `previous` is the object before it; undefined when it was created. */
export interface Change {
  readonly type: ChangeType;
  readonly resource: string;
  readonly key: string;
  readonly version: number;
  readonly at: number;
  readonly object: KubeObject;
  readonly previous: KubeObject | undefined;
}

/** Fewer new keys than this are put in their places one by one. */
const fewKeys = 100;

/** The objects of one resource, in the order of their keys, and the changes that led here as far as they are kept. */
export class ResourceTable {
  readonly #objects = new Map<string, KubeObject>();
  /** Sorted, but for those that came since they were last read in order. */
  #keys: string[] = [];
  #unsorted: string[] = [];
  /** Oldest first. */
  #changes: Change[] = [];
  /** Index of the first change that is still kept: dropping from the front is batched. */
  #firstKept = 0;
  /** The version of the newest change that is no longer kept; 0 while none was dropped. */
  #droppedVersion = 0;

  get size(): number {
    return this.#objects.size;
  }

  get droppedVersion(): number {
    return this.#droppedVersion;
  }

  get(key: string): KubeObject | undefined {
    return this.#objects.get(key);
  }

  apply(change: Change): void {
    if (change.type === 'DELETED') this.#remove(change.key);
    else this.#set(change.key, change.object);
    this.#changes.push(change);
  }

  /** Changes later than `version`, oldest first. */
  changesAfter(version: number): Change[] {
    let low = this.#firstKept;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#changes[middle]?.version ?? Infinity) <= version) low = middle + 1;
      else high = middle;
    }
    return this.#changes.slice(low);
  }

  /** Forgets changes up to and including `version`. */
  dropUntil(version: number): void {
    const changes = this.#changes;
    while ((changes[this.#firstKept]?.version ?? Infinity) <= version) {
      this.#droppedVersion = changes[this.#firstKept]?.version ?? this.#droppedVersion;
      this.#firstKept++;
    }
    this.#squeeze();
  }

  /** Forgets changes that are older than `at`. */
  dropOlderThan(at: number): void {
    const changes = this.#changes;
    while ((changes[this.#firstKept]?.at ?? Infinity) < at) {
      this.#droppedVersion = changes[this.#firstKept]?.version ?? this.#droppedVersion;
      this.#firstKept++;
    }
    this.#squeeze();
  }

  /** Keys in order, from `start` (inclusive), only those that begin with `prefix`. */
  *keysFrom(prefix: string, start: string): IterableIterator<string> {
    this.#sort();
    const first = this.#position(start > prefix ? start : prefix);
    for (let index = first; index < this.#keys.length; index++) {
      const key = this.#keys[index];
      if (key === undefined || !key.startsWith(prefix)) return;
      yield key;
    }
  }

  /** How many keys begin with `prefix` and lie at or after `start`. */
  countFrom(prefix: string, start: string): number {
    this.#sort();
    const first = this.#position(start > prefix ? start : prefix);
    // The greatest code unit sorts behind every key of the prefix.
    const end = prefix === '' ? this.#keys.length : this.#position(`${prefix}\uffff`);
    return Math.max(0, end - first);
  }

  *objects(namespace?: string): IterableIterator<KubeObject> {
    const prefix = namespace === undefined ? '' : keyOf(namespace, '');
    for (const key of this.keysFrom(prefix, '')) {
      const object = this.#objects.get(key);
      if (object !== undefined) yield object;
    }
  }

  #set(key: string, object: KubeObject): void {
    if (!this.#objects.has(key)) this.#unsorted.push(key);
    this.#objects.set(key, object);
  }

  /** Many new keys are sorted in at once: loading a large cluster must not move all keys for each. */
  #sort(): void {
    if (this.#unsorted.length === 0) return;
    const added = this.#unsorted;
    this.#unsorted = [];
    if (added.length < fewKeys) for (const key of added) this.#keys.splice(this.#position(key), 0, key);
    else this.#keys = [...this.#keys, ...added].toSorted((a, b) => (a < b ? -1 : 1));
  }

  #remove(key: string): void {
    if (!this.#objects.delete(key)) return;
    this.#sort();
    this.#keys.splice(this.#position(key), 1);
  }

  /** Index of the first key that is not below `key`. */
  #position(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const candidate = this.#keys[middle];
      if (candidate !== undefined && candidate < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #squeeze(): void {
    if (this.#firstKept < 1_000 || this.#firstKept * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#firstKept);
    this.#firstKept = 0;
  }
}
