import type { Fields } from './json.ts';
import { fieldsOf, textOf } from './json.ts';
import { toObject } from './http/read-object.ts';
import type { Kind } from './kinds/kind.ts';
import type { KubeObject } from './storage/kube-object.ts';
import type { Propagation } from './verbs/object-writer.ts';
import type { VerbDeps } from './verbs/verb-deps.ts';
import { withDefaults } from './custom/custom-schema.ts';

/** Which object of which kind. */
export interface ObjectName {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Direct access to the objects of a cluster, for tests and demos. Unknown kinds throw. */
export interface ClusterObjects {
  /**
   * Stores an object as if it had been created just now, or replaces the one of its name: status, generation and creation
   * time are kept as given, uid and version are made when they are not.
   */
  put(object: Fields): KubeObject;
  find(name: ObjectName): KubeObject | undefined;
  list(kind: { readonly apiVersion: string; readonly kind: string; readonly namespace?: string }): KubeObject[];
  /** Changes an object; `change` gives the next state. Throws when it is not there. */
  update(name: ObjectName, change: (object: KubeObject) => KubeObject): KubeObject;
  /** Deletes as the API does. False when it is not there. */
  remove(name: ObjectName, propagation?: Propagation): boolean;
}

export function createObjects(deps: VerbDeps): ClusterObjects {
  const kindOf = ({ apiVersion, kind }: { apiVersion: string; kind: string }): Kind => {
    const found = deps.registry.findByKind(apiVersion, kind);
    if (found === undefined) throw new Error(`the simulated cluster serves no ${kind} of ${apiVersion}`);
    return found;
  };
  const find = (name: ObjectName): KubeObject | undefined => {
    const kind = kindOf(name);
    return deps.store.get(kind.storedAs, kind.namespaced ? (name.namespace ?? 'default') : undefined, name.name);
  };
  return {
    put(fields) {
      const kind = kindOf({ apiVersion: textOf(fields['apiVersion']), kind: textOf(fields['kind']) });
      return put(fields, kind, deps);
    },
    find,
    list(wanted) {
      return [...deps.store.table(kindOf(wanted).storedAs).objects(wanted.namespace)];
    },
    update(name, change) {
      const object = find(name);
      if (object === undefined) throw new Error(`there is no ${name.kind} ${name.name}`);
      const kind = kindOf(name);
      const next = change(object);
      const generation = deps.writer.generationAfter(kind, next, object);
      const metadata = generation === undefined ? next.metadata : { ...next.metadata, generation };
      return deps.writer.replace(kind, { ...next, metadata }, object);
    },
    remove(name, propagation = 'Background') {
      const object = find(name);
      if (object === undefined) return false;
      deps.writer.remove(kindOf(name), object, { propagation });
      return true;
    },
  };
}

function put(fields: Fields, kind: Kind, deps: VerbDeps): KubeObject {
  const { object } = toObject(fields, [], kind);
  const given = object.metadata;
  const placed: KubeObject = kind.namespaced
    ? { ...object, metadata: { ...given, namespace: given.namespace ?? 'default' } }
    : object;
  const prepared = deps.writer.prepare(kind, placed);
  const complete = completed(prepared, fields, kind);
  const metadata = {
    ...complete.metadata,
    ...(given.uid === '' ? {} : { uid: given.uid }),
    ...(given.creationTimestamp === '' ? {} : { creationTimestamp: given.creationTimestamp }),
    ...(given.generation === undefined ? {} : { generation: given.generation }),
    ...(given.deletionTimestamp === undefined ? {} : { deletionTimestamp: given.deletionTimestamp }),
  };
  const stored: KubeObject = { ...complete, metadata };
  const known = deps.store.get(kind.storedAs, metadata.namespace, metadata.name);
  if (known === undefined) return deps.writer.insert(kind, stored);
  const uid = given.uid === '' ? known.metadata.uid : given.uid;
  return deps.store.update(kind.storedAs, { ...stored, metadata: { ...metadata, uid } });
}

function completed(object: KubeObject, fields: Fields, kind: Kind): KubeObject {
  if (kind.custom !== undefined) return withDefaults(object, kind.custom.schema) as KubeObject;
  const { defaults, prepareCreate } = kind.traits;
  const withAll = defaults === undefined ? object : defaults(object);
  const fresh = prepareCreate === undefined ? withAll : prepareCreate(withAll);
  // A status that was given is meant.
  return Object.keys(fieldsOf(fields['status'])).length === 0 ? fresh : { ...fresh, status: object.status };
}
