import type { CustomSchema } from '../custom/custom-schema.ts';
import type { StructType } from '../schema/go-type.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Fault } from '../validation/fault.ts';
import type { Subject } from '../http/api-error.ts';

export interface Subresource {
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of its body, where that is another one; group and version are empty text for those of the core group. */
  readonly answers?: { readonly group: string; readonly version: string; readonly kind: string };
}

/** What is particular to a built-in kind. All hooks are pure: they take an object and give a new one, or faults. */
export interface KindTraits {
  /** Undefined: the kind is kept as it comes, without knowledge of its fields. */
  readonly type?: StructType;
  readonly hasGeneration?: boolean;
  /** PUT without resourceVersion is refused. */
  readonly needsVersion?: boolean;
  /** PUT of a missing object creates it. */
  readonly createdByPut?: boolean;
  /** DELETE answers the object and not a Status. */
  readonly answersDeleted?: boolean;
  /** DELETE without a policy leaves the dependents behind. */
  readonly orphansByDefault?: boolean;
  /** Fields by which a list can be narrowed besides name and namespace. */
  readonly fieldLabels?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Fills in what was not sent, on every write. */
  readonly defaults?: (object: KubeObject) => KubeObject;
  /** Resets what a client may not set at creation. */
  readonly prepareCreate?: (object: KubeObject) => KubeObject;
  /** Carries over what a client may not change. */
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject) => KubeObject;
  /** How an object is marked that is told to go; such a kind ends by its own controller and not by its last finalizer. */
  readonly markDeleted?: (object: KubeObject, time: string) => KubeObject;
  readonly checkCreate?: (object: KubeObject) => Fault[];
  readonly checkUpdate?: (object: KubeObject, old: KubeObject) => Fault[];
  /** How a name must look; a DNS subdomain unless told otherwise. */
  readonly checkName?: (name: string) => string[];
}

/** A custom kind, as its definition describes it in one version. */
interface CustomTraits {
  readonly schema: CustomSchema;
  readonly columns: readonly { name: string; type: string; format?: string; jsonPath: string; priority?: number }[];
}

export interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly subresources: readonly Subresource[];
  /** Name of the resource in the store. */
  readonly storedAs: string;
  readonly traits: KindTraits;
  readonly custom?: CustomTraits;
}

/** `batch/v1`, or `v1` in the core group. */
export function apiVersionOf(kind: { group: string; version: string }): string {
  return kind.group === '' ? kind.version : `${kind.group}/${kind.version}`;
}

/** As errors about a resource name it: by the plural. */
export function byPlural(kind: Kind): Subject {
  return { group: kind.group, kind: kind.plural };
}

/** As errors about the content of an object name it: by the kind. */
export function byKind(kind: Kind): Subject {
  return { group: kind.group, kind: kind.kind };
}

export function hasSubresource(kind: Kind, name: string): boolean {
  return kind.subresources.some((subresource) => subresource.name === name);
}

/** Where its objects lie in the store: the same for all versions. */
export function resourceOf(kind: { group: string; plural: string }): string {
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}
