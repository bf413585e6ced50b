import type { KubeObject, OwnerReference } from '../storage/kube-object.ts';
import type { Kind } from '../kinds/kind.ts';
import type { Change } from '../storage/resource-table.ts';
import type { VerbDeps } from '../verbs/verb-deps.ts';
import type { OwnerIndex, Place } from './owner-index.ts';

interface GarbageDeps extends VerbDeps {
  readonly owners: OwnerIndex;
}

/** From the end of an owner until its dependents are looked at. */
const sweepMs = 12;
/** An owner that is not there when its dependent is made may still come. */
const patienceMs = 2_000;
const foreground = 'foregroundDeletion';
const orphan = 'orphan';

/** Removes what belonged to objects that are gone, and lets owners go that wait for their dependents. */
export class GarbageCollector {
  readonly #deps: GarbageDeps;
  readonly #kinds = new Map<string, Kind>();

  constructor(deps: GarbageDeps) {
    this.#deps = deps;
  }

  /** To be told of every write. */
  notice(change: Change): void {
    const { metadata } = change.object;
    if (change.type === 'DELETED') return this.#noticeEnd(change.object);
    if (change.type === 'ADDED' && this.#lacksOwner(change.object)) {
      this.#later(patienceMs, () => this.#checkOwners({ resource: change.resource, key: change.key }, metadata.uid));
    }
    if (metadata.deletionTimestamp === undefined) return;
    const waits = metadata.finalizers ?? [];
    if (!waits.includes(foreground) && !waits.includes(orphan)) return;
    this.#later(sweepMs, () => this.#advance({ resource: change.resource, key: change.key }));
  }

  #noticeEnd({ metadata }: KubeObject): void {
    if (this.#deps.owners.hasDependents(metadata.uid)) this.#later(sweepMs, () => this.#sweep(metadata.uid));
    for (const owner of metadata.ownerReferences ?? []) {
      const place = this.#placeOf(owner, metadata.namespace);
      if (place === undefined || this.#find(place)?.metadata.deletionTimestamp === undefined) continue;
      this.#later(sweepMs, () => this.#advance(place));
    }
  }

  #lacksOwner({ metadata }: KubeObject): boolean {
    return metadata.ownerReferences?.some((owner) => !this.#ownerExists(owner, metadata.namespace)) ?? false;
  }

  #later(delayMs: number, fn: () => void): void {
    this.#deps.clock.callAt(this.#deps.clock.now() + delayMs, fn);
  }

  #kindOf(resource: string): Kind | undefined {
    let kind = this.#kinds.get(resource);
    if (kind === undefined) {
      kind = this.#deps.registry.all().find((one) => one.storedAs === resource);
      if (kind !== undefined && kind.custom === undefined) this.#kinds.set(resource, kind);
    }
    return kind;
  }

  #find(place: Place): KubeObject | undefined {
    return this.#deps.store.table(place.resource).get(place.key);
  }

  /** The owner of this uid is gone: so go those it alone owned. */
  #sweep(uid: string): void {
    for (const { place } of this.#deps.owners.ownedBy(uid)) this.#checkOwners(place);
  }

  #checkOwners(place: Place, uid?: string): void {
    const object = this.#find(place);
    const kind = this.#kindOf(place.resource);
    if (object === undefined || kind === undefined || (uid !== undefined && object.metadata.uid !== uid)) return;
    const owners = object.metadata.ownerReferences ?? [];
    const present = owners.filter((owner) => this.#ownerExists(owner, object.metadata.namespace));
    if (owners.length === 0 || present.length === owners.length) return;
    if (present.length === 0) this.#deps.writer.remove(kind, object, { propagation: 'Background' });
    else this.#deps.writer.replace(kind, withOwners(object, present), object);
  }

  #ownerExists(owner: OwnerReference, namespace: string | undefined): boolean {
    const place = this.#placeOf(owner, namespace);
    // Of a kind that is not served it cannot be said that it is gone.
    return place === undefined || this.#find(place)?.metadata.uid === owner.uid;
  }

  #placeOf(owner: OwnerReference, namespace: string | undefined): Place | undefined {
    const kind = this.#deps.registry.findByKind(owner.apiVersion, owner.kind);
    if (kind === undefined) return undefined;
    return { resource: kind.storedAs, key: `${kind.namespaced ? (namespace ?? '') : ''}/${owner.name}` };
  }

  /** One step of an object that goes: its dependents are told to go, or let go; then it goes itself. */
  #advance(place: Place): void {
    const object = this.#find(place);
    const kind = this.#kindOf(place.resource);
    if (object?.metadata.deletionTimestamp === undefined || kind === undefined) return;
    const finalizers = object.metadata.finalizers ?? [];
    if (finalizers.includes(orphan)) {
      this.#releaseDependents(object);
      this.#dropFinalizer(kind, object, orphan);
    } else if (finalizers.includes(foreground) && this.#blockers(object) === 0) {
      this.#dropFinalizer(kind, object, foreground);
    }
  }

  #releaseDependents(owner: KubeObject): void {
    for (const { place, object } of this.#deps.owners.ownedBy(owner.metadata.uid)) {
      const kind = this.#kindOf(place.resource);
      if (kind === undefined) continue;
      const others = (object.metadata.ownerReferences ?? []).filter((one) => one.uid !== owner.metadata.uid);
      this.#deps.writer.replace(kind, withOwners(object, others), object);
    }
  }

  /** Tells the dependents that hold this owner back to go, and counts them. */
  #blockers(owner: KubeObject): number {
    let blocking = 0;
    for (const { place, object } of this.#deps.owners.ownedBy(owner.metadata.uid)) {
      const reference = object.metadata.ownerReferences?.find((one) => one.uid === owner.metadata.uid);
      if (reference?.blockOwnerDeletion !== true) continue;
      blocking++;
      const kind = this.#kindOf(place.resource);
      if (kind === undefined || object.metadata.deletionTimestamp !== undefined) continue;
      const hasDependents = this.#deps.owners.hasDependents(object.metadata.uid);
      this.#deps.writer.remove(kind, object, { propagation: hasDependents ? 'Foreground' : 'Background' });
    }
    return blocking;
  }

  #dropFinalizer(kind: Kind, object: KubeObject, finalizer: string): void {
    const kept = (object.metadata.finalizers ?? []).filter((name) => name !== finalizer);
    const { finalizers: _all, ...metadata } = object.metadata;
    const next = { ...object, metadata: kept.length === 0 ? metadata : { ...metadata, finalizers: kept } };
    this.#deps.writer.replace(kind, next, object);
  }
}

function withOwners(object: KubeObject, owners: readonly OwnerReference[]): KubeObject {
  const { ownerReferences: _all, ...metadata } = object.metadata;
  return { ...object, metadata: owners.length === 0 ? metadata : { ...metadata, ownerReferences: owners } };
}
