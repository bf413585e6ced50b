import { alreadyExists, ApiError, badRequest, failure, invalidObject } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { cannotBeHandled, readObject, type ReadObject } from '../http/read-object.ts';
import { schemaFaults } from '../custom/schema-faults.ts';
import { withDefaults } from '../custom/custom-schema.ts';
import { byKind, byPlural, hasSubresource, type Kind } from '../kinds/kind.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import type { Fault } from '../validation/fault.ts';
import { metadataFaults } from '../validation/metadata.ts';
import { admitToNamespace, admitToQuota } from './admission.ts';
import { managerOf, readWriteOptions, type WriteOptions } from './query-options.ts';
import type { VerbDeps } from './verb-deps.ts';

/** POST of a new object. */
export function createObject(request: ApiRequest, deps: VerbDeps): Answer {
  const options = readWriteOptions(request.query, 'CreateOptions');
  const read = readObject(request.body, request.contentType, request.kind);
  const warnings = judgeProblems(read, options, request.kind);
  const manager = managerOf(options, request);
  const { managedFields: _sent, ...metadata } = read.object.metadata;
  const created = insertChecked({ ...read.object, metadata }, { ...request, options, manager }, deps);
  return { code: 201, body: created, warnings };
}

/** Unknown and duplicate fields: an error when strict, warnings by default. Throws `ApiError`. */
export function judgeProblems(read: ReadObject, options: WriteOptions, kind: Kind): readonly string[] {
  if (read.problems.length === 0 || options.fieldValidation === 'Ignore') return [];
  if (options.fieldValidation === 'Warn') return read.problems;
  throw badRequest(`${cannotBeHandled(kind)}: strict decoding error: ${read.problems.join(', ')}`);
}

interface Target {
  readonly kind: Kind;
  readonly namespace: string | undefined;
  readonly options: WriteOptions;
  /** Who creates it; undefined when its managed fields say so themselves. */
  readonly manager: string | undefined;
}

/** Admits, completes, checks and stores a new object. Throws `ApiError`. */
export function insertChecked(object: KubeObject, target: Target, deps: VerbDeps): KubeObject {
  const { kind, namespace } = target;
  const { metadata } = object;
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  if (metadata.resourceVersion !== '') {
    // The real server wraps this as an internal error that has no reason.
    throw new ApiError(
      500,
      failure({ code: 500, message: 'resourceVersion should not be set on objects to be created' }),
    );
  }
  admitToNamespace(deps.store, kind, namespace, metadata.name);
  const placed = namespace === undefined ? object : { ...object, metadata: { ...metadata, namespace } };
  const prepared = completeNew(deps.writer.prepare(kind, placed), kind);
  const faults = newObjectFaults(prepared, kind);
  if (faults.length > 0) throw invalidObject(byKind(kind), prepared.metadata.name, faults);
  admitToQuota(deps.store, kind, namespace, prepared.metadata.name);
  if (deps.store.get(kind.storedAs, namespace, prepared.metadata.name) !== undefined) {
    throw alreadyExists(byPlural(kind), prepared.metadata.name);
  }
  if (target.options.dryRun) return prepared;
  if (target.manager !== undefined) deps.creators.set(prepared.metadata.uid, target.manager);
  return deps.writer.insert(kind, prepared);
}

function completeNew(object: KubeObject, kind: Kind): KubeObject {
  const { defaults, prepareCreate } = kind.traits;
  if (kind.custom !== undefined) {
    const { status: _status, ...rest } = object;
    const kept = hasSubresource(kind, 'status') ? rest : object;
    // Defaults keep the shape of an object.
    return withDefaults(kept, kind.custom.schema) as KubeObject;
  }
  const complete = defaults === undefined ? object : defaults(object);
  return prepareCreate === undefined ? complete : prepareCreate(complete);
}

function newObjectFaults(object: KubeObject, kind: Kind): Fault[] {
  const own = kind.custom === undefined ? kind.traits.checkCreate?.(object) : schemaFaults(object, kind.custom.schema);
  return [...metadataFaults(object, kind), ...(own ?? [])];
}
