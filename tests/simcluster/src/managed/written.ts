import { apiVersionOf, hasSubresource, type Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { FieldSet } from './field-set.ts';
import { changedFields } from './merge.ts';
import { isSameManager, printManagers, readManagers, type Manager } from './owners.ts';
import { shapeOf } from './shape.ts';

/** Fields of the server, which no manager owns. */
const unowned = new Set([
  'f:name',
  'f:namespace',
  'f:creationTimestamp',
  'f:uid',
  'f:generation',
  'f:managedFields',
  'f:resourceVersion',
]);

/** Leaves out what no manager owns, and the part that a write to this place does not reach. */
export function ownable(fields: FieldSet, kind: Kind, subresource: string | undefined): FieldSet {
  return fields.filter(([top, second]) => {
    if (top === undefined || top === 'f:apiVersion' || top === 'f:kind') return false;
    if (subresource === 'status') return top === 'f:status';
    if (top === 'f:status') return !hasSubresource(kind, 'status');
    return top !== 'f:metadata' || (second !== undefined && !unowned.has(second));
  });
}

/** Who wrote how. */
interface Writing {
  readonly manager: string;
  readonly subresource: string | undefined;
  readonly time: string;
}

/** The one who created an object without applying: all that it says is theirs. */
export function creatorOf(object: KubeObject, kind: Kind, manager: string): Manager {
  return {
    name: manager,
    operation: 'Update',
    apiVersion: apiVersionOf(kind),
    subresource: undefined,
    time: object.metadata.creationTimestamp,
    fields: ownable(FieldSet.of(object, shapeOf(kind)), kind, undefined),
  };
}

/**
 * An object after a write that was no apply: who wrote owns what changed, and others own it no more. Objects that were never
 * applied carry no managed fields.
 */
export function withWriter(next: KubeObject, old: KubeObject, kind: Kind, writing: Writing): KubeObject {
  const before = readManagers(old.metadata.managedFields);
  if (before.length === 0) return next;
  const shape = shapeOf(kind);
  const [was, is] = [FieldSet.of(old, shape), FieldSet.of(next, shape)];
  const changed = ownable(changedFields(was.union(is), old, next), kind, writing.subresource);
  const self = { name: writing.manager, operation: 'Update' as const, subresource: writing.subresource };
  const known = before.find((manager) => isSameManager(manager, self));
  const others = before
    .filter((manager) => manager !== known)
    .map((manager) => ({ ...manager, fields: manager.fields.without(changed) }));
  const own = (known?.fields ?? FieldSet.empty).union(changed).intersect(is);
  const time = changed.isEmpty ? known?.time : writing.time;
  const managers = [...others, { ...self, apiVersion: apiVersionOf(kind), time, fields: own }];
  return { ...next, metadata: { ...next.metadata, managedFields: printManagers(managers) } };
}
