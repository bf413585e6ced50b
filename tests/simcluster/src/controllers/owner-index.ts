import { controllerOf, keyOf, type KubeObject } from '../storage/kube-object.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { Change } from '../storage/resource-table.ts';

/** Where an object lies: its resource and its key there. */
export interface Place {
  readonly resource: string;
  readonly key: string;
}

/** Who belongs to whom, by uid and by the controller's name, kept up with every write. */
export class OwnerIndex {
  readonly #store: ObjectStore;
  readonly #byUid = new Map<string, Map<string, Place>>();
  readonly #byController = new Map<string, Map<string, Place>>();

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  notice({ type, resource, key, object, previous }: Change): void {
    const before = previous?.metadata.ownerReferences;
    const now = type === 'DELETED' ? undefined : object.metadata.ownerReferences;
    if (before === now && type === 'MODIFIED') return;
    const place = { resource, key };
    if (previous !== undefined) this.#each(previous, place, removeFrom);
    if (type !== 'DELETED') this.#each(object, place, addTo);
  }

  /** Objects that name this uid as an owner. */
  ownedBy(uid: string): { place: Place; object: KubeObject }[] {
    return this.#read(this.#byUid.get(uid));
  }

  hasDependents(uid: string): boolean {
    return this.#byUid.has(uid);
  }

  /** Objects of a resource that an owner of this kind and name controls. */
  controlledBy(resource: string, ownerKind: string, namespace: string | undefined, name: string): KubeObject[] {
    const places = this.#byController.get(`${resource}/${ownerKind}/${keyOf(namespace, name)}`);
    return this.#read(places).map(({ object }) => object);
  }

  #each(
    object: KubeObject,
    place: Place,
    change: (index: Map<string, Map<string, Place>>, id: string, place: Place) => void,
  ): void {
    for (const owner of object.metadata.ownerReferences ?? []) change(this.#byUid, owner.uid, place);
    const controller = controllerOf(object);
    if (controller === undefined) return;
    const id = `${place.resource}/${controller.kind}/${keyOf(object.metadata.namespace, controller.name)}`;
    change(this.#byController, id, place);
  }

  #read(places: Map<string, Place> | undefined): { place: Place; object: KubeObject }[] {
    if (places === undefined) return [];
    const found: { place: Place; object: KubeObject }[] = [];
    for (const place of places.values()) {
      const object = this.#store.table(place.resource).get(place.key);
      if (object !== undefined) found.push({ place, object });
    }
    return found;
  }
}

function addTo(index: Map<string, Map<string, Place>>, id: string, place: Place): void {
  let places = index.get(id);
  if (places === undefined) {
    places = new Map();
    index.set(id, places);
  }
  places.set(`${place.resource}:${place.key}`, place);
}

function removeFrom(index: Map<string, Map<string, Place>>, id: string, place: Place): void {
  const places = index.get(id);
  places?.delete(`${place.resource}:${place.key}`);
  if (places?.size === 0) index.delete(id);
}
