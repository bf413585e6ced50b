import type { Projected } from './objects.ts';

interface Entry<T> {
  item: T;
  version: string;
  /** Number of the last list that held it: a list that does not raise it proves that the object is gone. */
  listNo: number;
}

/** A value of the index, such as the UID of the owner; undefined leaves the object out. */
type IndexOf<T> = (item: T) => string | undefined;

/**
 * The objects of one kind as last seen, by UID, by namespace and name, and by secondary indexes such as "Jobs by the UID of
 * their CronJob". The reflector of the kind is the only writer; all others read. Two objects of one name never stand in
 * it at once: who puts the second first removes the first.
 */
export class ObjectCache<T extends Projected, Index extends string = never> {
  readonly #entries = new Map<string, Entry<T>>();
  /** Namespace to name to UID. Nested, since one joined text per object costs more than the two maps. */
  readonly #byName = new Map<string, Map<string, string>>();
  readonly #indexOf: Readonly<Record<Index, IndexOf<T>>>;
  /** Index to value to UIDs; a lone UID is no set, for most Jobs have one pod. */
  readonly #byIndex = new Map<Index, Map<string, string | Set<string>>>();

  constructor(indexes: Readonly<Record<Index, IndexOf<T>>>) {
    this.#indexOf = indexes;
    for (const index of this.#indexes()) this.#byIndex.set(index, new Map());
  }

  get size(): number {
    return this.#entries.size;
  }

  find(uid: string): T | undefined {
    return this.#entries.get(uid)?.item;
  }

  /** The object of that name, whatever its UID. */
  findByName(namespace: string, name: string): T | undefined {
    const uid = this.#byName.get(namespace)?.get(name);
    return uid === undefined ? undefined : this.find(uid);
  }

  /** All of them, without a copy: read it in one go, since it changes with the next event. */
  values(): IteratorObject<T> {
    return this.#entries.values().map((entry) => entry.item);
  }

  /** Those of one namespace, without a copy. */
  *valuesIn(namespace: string): Generator<T> {
    for (const uid of this.#byName.get(namespace)?.values() ?? []) {
      const item = this.find(uid);
      if (item) yield item;
    }
  }

  /** Those whose index has this value. */
  listBy(index: Index, value: string): T[] {
    const uids = this.#byIndex.get(index)?.get(value);
    if (uids === undefined) return [];
    const found: T[] = [];
    for (const uid of typeof uids === 'string' ? [uids] : uids) {
      const item = this.find(uid);
      if (item) found.push(item);
    }
    return found;
  }

  versionOf(uid: string): string | undefined {
    return this.#entries.get(uid)?.version;
  }

  put(item: T, version: string, listNo: number): void {
    const entry = this.#entries.get(item.uid);
    if (entry) {
      this.#unindex(entry.item);
      entry.item = item;
      entry.version = version;
      entry.listNo = listNo;
    } else {
      this.#entries.set(item.uid, { item, version, listNo });
    }
    let names = this.#byName.get(item.namespace);
    if (!names) this.#byName.set(item.namespace, (names = new Map()));
    names.set(item.name, item.uid);
    this.#index(item);
  }

  /** Seen again unchanged by the list of that number. */
  touch(uid: string, listNo: number): void {
    const entry = this.#entries.get(uid);
    if (entry) entry.listNo = listNo;
  }

  remove(uid: string): T | undefined {
    const entry = this.#entries.get(uid);
    if (!entry) return undefined;
    this.#entries.delete(uid);
    this.#unindex(entry.item);
    const names = this.#byName.get(entry.item.namespace);
    if (names?.get(entry.item.name) === uid) names.delete(entry.item.name);
    if (names?.size === 0) this.#byName.delete(entry.item.namespace);
    return entry.item;
  }

  /** UIDs that the list of that number did not hold; only those of one namespace when the list was of one. */
  listUnseen(listNo: number, namespace: string | undefined): string[] {
    const uids = namespace === undefined ? this.#entries.keys() : (this.#byName.get(namespace)?.values() ?? []);
    const unseen: string[] = [];
    for (const uid of uids) if (this.#entries.get(uid)?.listNo !== listNo) unseen.push(uid);
    return unseen;
  }

  #indexes(): Index[] {
    // Object.keys forgets the key type of a record that has no other keys.
    return Object.keys(this.#indexOf) as Index[];
  }

  #index(item: T): void {
    for (const [index, values] of this.#byIndex) {
      const value = this.#indexOf[index](item);
      if (value === undefined) continue;
      const uids = values.get(value);
      if (uids === undefined) values.set(value, item.uid);
      else if (typeof uids === 'string') values.set(value, new Set([uids, item.uid]));
      else uids.add(item.uid);
    }
  }

  #unindex(item: T): void {
    for (const [index, values] of this.#byIndex) {
      const value = this.#indexOf[index](item);
      if (value === undefined) continue;
      const uids = values.get(value);
      if (typeof uids === 'object') uids.delete(item.uid);
      if (uids === item.uid || (typeof uids === 'object' && uids.size === 0)) values.delete(value);
    }
  }
}
