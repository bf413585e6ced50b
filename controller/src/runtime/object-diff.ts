import type { RawObject } from '@cronjob-monitor/shared/kube';

import type { ObjectCache } from './cache.ts';
import type { Identity, ObjectEvent, Projected, Projection } from './objects.ts';

/**
 * What an arriving object changes against what the cache holds, by UID. The cache is brought up to date first, the events
 * come back for delivery.
 *
 * A list and a watch are told apart only by this: what a finished list did not hold is gone. The same name under another UID
 * is another object, so the old one is deleted before the new one is added. The same version again changes nothing.
 */
export class ObjectDiff<T extends Projected> {
  readonly #projection: Projection<T>;
  readonly #cache: ObjectCache<T, string>;
  readonly #namespace: string | undefined;
  #listNo = 0;

  constructor(projection: Projection<T>, cache: ObjectCache<T, string>, namespace: string | undefined) {
    this.#projection = projection;
    this.#cache = cache;
    this.#namespace = namespace;
  }

  /** From here on only what arrives counts as seen by the list. */
  beginList(): void {
    this.#listNo += 1;
  }

  /** The list is whole: everything it did not hold is deleted, with its last projection. */
  finishList(): ObjectEvent<T>[] {
    return this.#cache.listUnseen(this.#listNo, this.#namespace).flatMap((uid) => this.#bury(uid));
  }

  /** An object of a list, or of an ADDED or MODIFIED event. Throws what the projection throws; the cache is then as before. */
  observe(raw: RawObject, identity: Identity): ObjectEvent<T>[] {
    const { uid, version } = identity;
    if (this.#cache.versionOf(uid) === version) {
      this.#cache.touch(uid, this.#listNo);
      return [];
    }
    const item = this.#project(raw, uid);
    if (!item) return this.#bury(uid);

    const before = this.#cache.find(uid);
    const namesake = this.#cache.findByName(item.namespace, item.name);
    const events = namesake && namesake.uid !== uid ? this.#bury(namesake.uid) : [];
    this.#cache.put(item, version, this.#listNo);
    events.push(before ? { type: 'updated', item, before } : { type: 'added', item });
    return events;
  }

  /**
   * A DELETED event: its object is the final state. It is told even when the object was never seen before, for the final
   * state may be the only trace of a run.
   */
  observeDeleted(raw: RawObject, identity: Identity): ObjectEvent<T>[] {
    const item = this.#projection.project(raw);
    if (!item) return this.#bury(identity.uid);
    this.#cache.remove(identity.uid);
    return [{ type: 'deleted', item, tombstone: false }];
  }

  #project(raw: RawObject, uid: string): T | undefined {
    try {
      return this.#projection.project(raw);
    } catch (error) {
      // It exists, whatever it looks like: without this mark the end of the list would call it gone.
      this.#cache.touch(uid, this.#listNo);
      throw error;
    }
  }

  #bury(uid: string): ObjectEvent<T>[] {
    const item = this.#cache.remove(uid);
    return item ? [{ type: 'deleted', item, tombstone: true }] : [];
  }
}
