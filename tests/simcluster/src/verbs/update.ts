import { badRequest, conflict, invalidObject, modifiedDetail, notFound } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { readObject } from '../http/read-object.ts';
import { withDefaults } from '../custom/custom-schema.ts';
import { schemaFaults } from '../custom/schema-faults.ts';
import { byKind, byPlural, hasSubresource, type Kind } from '../kinds/kind.ts';
import { withWriter } from '../managed/written.ts';
import { printTime } from '../schema/go-time.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { invalid, type Fault } from '../validation/fault.ts';
import { metadataFaults, metadataUpdateFaults, newFinalizerFaults } from '../validation/metadata.ts';
import { insertChecked, judgeProblems } from './create.ts';
import { managerOf, readWriteOptions, type WriteOptions } from './query-options.ts';
import type { VerbDeps } from './verb-deps.ts';

/** PUT: the whole object, or its status alone. */
export function updateObject(request: ApiRequest, deps: VerbDeps): Answer {
  const { kind, namespace } = request;
  const name = request.name ?? '';
  const options = readWriteOptions(request.query, 'UpdateOptions');
  const read = readObject(request.body, request.contentType, kind);
  const warnings = judgeProblems(read, options, kind);
  const sent = read.object;
  checkPlace(sent, name, namespace);
  const old = deps.store.get(kind.storedAs, namespace, name);
  if (old === undefined) {
    if (kind.traits.createdByPut !== true || request.subresource !== undefined) throw notFound(byPlural(kind), name);
    if (sent.metadata.uid !== '') throw otherUid(kind, sent, undefined);
    const fresh = { ...sent, metadata: { ...sent.metadata, resourceVersion: '' } };
    return {
      code: 201,
      body: insertChecked(fresh, { kind, namespace, options, manager: managerOf(options, request) }, deps),
      warnings,
    };
  }
  if (sent.metadata.uid !== '' && sent.metadata.uid !== old.metadata.uid) throw otherUid(kind, sent, old);
  checkVersion(sent, old, kind);
  const next = writtenBy(nextState(sent, old, kind, request.subresource), old, { request, options, deps });
  const generation = deps.writer.generationAfter(kind, next, old);
  return { code: 200, body: storeNext(withGeneration(next, generation), old, { kind, options, deps }), warnings };
}

interface WriteRequest {
  readonly request: ApiRequest;
  readonly options: WriteOptions;
  readonly deps: VerbDeps;
}

/** The next state with what is known of who wrote which field. */
export function writtenBy(next: KubeObject, old: KubeObject, { request, options, deps }: WriteRequest): KubeObject {
  const { managedFields: _sent, ...metadata } = next.metadata;
  const kept = old.metadata.managedFields;
  if (kept === undefined) return next.metadata.managedFields === undefined ? next : { ...next, metadata };
  const { kind, subresource } = request;
  const carried = { ...next, metadata: { ...metadata, managedFields: kept } };
  const writing = { manager: managerOf(options, request), subresource, time: printTime(deps.clock.now()) };
  return withWriter(carried, old, kind, writing);
}

function checkPlace(sent: KubeObject, name: string, namespace: string | undefined): void {
  if (sent.metadata.name === '') {
    throw badRequest(`the name of the object (${name} based on URL) was undeterminable: name must be provided`);
  }
  if (sent.metadata.name !== name) {
    throw badRequest(`the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`);
  }
  if (sent.metadata.namespace !== undefined && sent.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
}

function otherUid(kind: Kind, sent: KubeObject, old: KubeObject | undefined): Error {
  const { name, namespace } = sent.metadata;
  const place = [kind.plural, namespace ?? old?.metadata.namespace, name]
    .filter((part) => part !== undefined)
    .join('/');
  const text = `StorageError: invalid object, Code: 4, Key: /registry/${place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${sent.metadata.uid}, UID in object meta: ${old?.metadata.uid ?? ''}`;
  return conflict(byPlural(kind), name, text);
}

/** Compares the version that was sent, if any, with the stored one. Throws `ApiError`. */
export function checkVersion(sent: KubeObject, old: KubeObject, kind: Kind): void {
  const version = sent.metadata.resourceVersion;
  if (version === '' || version === '0') {
    if (kind.traits.needsVersion !== true) return;
    const fault = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
    throw invalidObject(byPlural(kind), sent.metadata.name, [fault]);
  }
  if (version !== old.metadata.resourceVersion) throw conflict(byPlural(kind), old.metadata.name, modifiedDetail);
}

/** The state that a write asks for: the parts it may set from what was sent, the rest as it was. */
export function nextState(sent: KubeObject, old: KubeObject, kind: Kind, subresource: string | undefined): KubeObject {
  const metadata = keptMetadata(sent, old);
  if (subresource === 'status') return nextStatus(sent, old, kind, metadata);
  if (kind.custom !== undefined) {
    const keepsStatus = hasSubresource(kind, 'status');
    const { status: _status, ...rest } = sent;
    const kept = keepsStatus ? { ...rest, ...statusOf(old) } : sent;
    // Defaults keep the shape of an object.
    return withDefaults({ ...kept, metadata }, kind.custom.schema) as KubeObject;
  }
  const { defaults, prepareUpdate } = kind.traits;
  const { status: _status, ...rest } = sent;
  const placed: KubeObject = { ...(hasSubresource(kind, 'status') ? { ...rest, ...statusOf(old) } : sent), metadata };
  const complete = defaults === undefined ? placed : defaults(placed);
  return prepareUpdate === undefined ? complete : prepareUpdate(complete, old);
}

function nextStatus(sent: KubeObject, old: KubeObject, kind: Kind, metadata: KubeObject['metadata']): KubeObject {
  const { status: _status, ...rest } = old;
  if (kind.custom === undefined) return { ...rest, metadata, ...statusOf(sent) };
  const managed = sent.metadata.managedFields;
  const ownMetadata = managed === undefined ? old.metadata : { ...old.metadata, managedFields: managed };
  return withDefaults({ ...rest, metadata: ownMetadata, ...statusOf(sent) }, kind.custom.schema) as KubeObject;
}

function statusOf(object: KubeObject): { status?: unknown } {
  return object.status === undefined ? {} : { status: object.status };
}

/** Metadata as sent, but for what only the server sets. */
function keptMetadata(sent: KubeObject, old: KubeObject): KubeObject['metadata'] {
  const before = old.metadata;
  const {
    generation: _generation,
    deletionTimestamp: _deletion,
    deletionGracePeriodSeconds: _grace,
    ...metadata
  } = sent.metadata;
  return {
    ...metadata,
    ...(before.namespace === undefined ? {} : { namespace: metadata.namespace ?? before.namespace }),
    uid: metadata.uid === '' ? before.uid : metadata.uid,
    resourceVersion: before.resourceVersion,
    // Clients send back what they read. Another time of birth is not refused, as it is by a real server: recorded requests
    // carry that of their recording.
    creationTimestamp: before.creationTimestamp,
    ...(before.generateName === undefined ? {} : { generateName: before.generateName }),
    ...(before.generation === undefined ? {} : { generation: before.generation }),
    ...(before.deletionTimestamp === undefined ? {} : { deletionTimestamp: before.deletionTimestamp }),
    ...(before.deletionGracePeriodSeconds === undefined
      ? {}
      : { deletionGracePeriodSeconds: before.deletionGracePeriodSeconds }),
  };
}

export function withGeneration(object: KubeObject, generation: number | undefined): KubeObject {
  if (generation === undefined || generation === object.metadata.generation) return object;
  return { ...object, metadata: { ...object.metadata, generation } };
}

/** Checks a changed object and stores it. Throws `ApiError`. */
export function storeNext(
  next: KubeObject,
  old: KubeObject,
  { kind, options, deps }: { kind: Kind; options: { dryRun: boolean }; deps: VerbDeps },
): KubeObject {
  const faults = updateFaults(next, old, kind);
  if (faults.length > 0) throw invalidObject(byKind(kind), old.metadata.name, faults);
  return options.dryRun ? next : deps.writer.replace(kind, next, old);
}

function updateFaults(next: KubeObject, old: KubeObject, kind: Kind): Fault[] {
  const own = kind.custom === undefined ? kind.traits.checkUpdate?.(next, old) : schemaFaults(next, kind.custom.schema);
  return [
    ...metadataFaults(next, kind),
    ...newFinalizerFaults(next, old),
    ...metadataUpdateFaults(next, old),
    ...(own ?? []),
  ];
}
