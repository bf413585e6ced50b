import { ApiError, badRequest, failure, notFound, statusError } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { toObject } from '../http/read-object.ts';
import { readYaml } from '../http/yaml.ts';
import { fieldsOf, isFields, sameJson, textOf, type Fields } from '../json.ts';
import { apiVersionOf, byPlural, type Kind } from '../kinds/kind.ts';
import { FieldSet, UndeclaredFieldError } from '../managed/field-set.ts';
import {
  conflictMessage,
  conflictsWith,
  isSameManager,
  printManager,
  printManagers,
  readManagers,
  type Manager,
} from '../managed/owners.ts';
import { changedFields, mergeApplied, removeFields } from '../managed/merge.ts';
import { shapeOf } from '../managed/shape.ts';
import { creatorOf, ownable } from '../managed/written.ts';
import { DecodeError } from '../schema/decode.ts';
import { printTime } from '../schema/go-time.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { insertChecked } from './create.ts';
import type { WriteOptions } from './query-options.ts';
import { checkVersion, nextState, storeNext, withGeneration } from './update.ts';
import type { VerbDeps } from './verb-deps.ts';

/** Server-side apply: the sender says what it wants of an object, and owns that from then on. */
export function applyObject(request: ApiRequest, options: WriteOptions, deps: VerbDeps): Answer {
  const { kind, namespace } = request;
  const name = request.name ?? '';
  const applied = readApplied(request, name);
  const live = deps.store.get(kind.storedAs, namespace, name);
  if (live === undefined && request.subresource !== undefined) throw notFound(byPlural(kind), name);
  const fields = appliedFields(applied, request);
  const before = managersOf(live, kind, deps);
  const self = { name: options.fieldManager, operation: 'Apply' as const, subresource: request.subresource };
  const known = before.find((manager) => isSameManager(manager, self));
  const rivals = before.filter((manager) => manager !== known);

  const contested = live === undefined ? FieldSet.empty : changedFields(fields, live, applied);
  if (!options.force) refuseConflicts(rivals, contested);
  const others = rivals.map((manager) => ({ ...manager, fields: manager.fields.without(contested) }));
  const merged = mergeApplied(live ?? {}, applied, shapeOf(kind));
  const dropped = others.reduce(
    (set, { fields: theirs }) => set.without(theirs),
    known?.fields.without(fields) ?? FieldSet.empty,
  );
  const result = toObject(fieldsOf(removeFields(merged, dropped)), [], kind).object;

  const unchangedTime = live !== undefined && isSameState(result, live, request) ? { time: known?.time } : undefined;
  const time = unchangedTime === undefined ? printTime(deps.clock.now()) : unchangedTime.time;
  const managers = [...others, { ...self, apiVersion: apiVersionOf(kind), time, fields }];
  const managed = { ...result, metadata: { ...result.metadata, managedFields: printManagers(managers) } };
  if (live === undefined) {
    return { code: 201, body: insertChecked(managed, { kind, namespace, options, manager: undefined }, deps) };
  }
  checkVersion(sentVersion(managed, applied, live), live, kind);
  const next = nextState(managed, live, kind, request.subresource);
  const generation = deps.writer.generationAfter(kind, next, live);
  return { code: 200, body: storeNext(withGeneration(next, generation), live, { kind, options, deps }) };
}

/** Reads the body, YAML or JSON. Throws `ApiError`. */
function readApplied(request: ApiRequest, name: string): Fields {
  const { kind } = request;
  const value = readBody(request.body.toString());
  const metadata = fieldsOf(value['metadata']);
  if (metadata['managedFields'] !== undefined) throw badRequest('metadata.managedFields must be nil');
  const [group = '', version] = splitVersion(textOf(value['apiVersion']));
  if (value['apiVersion'] !== apiVersionOf(kind) || value['kind'] !== kind.kind) {
    throw badRequest(`invalid object type: ${group}/${version ?? ''}, Kind=${textOf(value['kind'])}`);
  }
  const given = textOf(metadata['name']);
  if (given !== '' && given !== name) {
    throw badRequest(`the name of the object (${given}) does not match the name on the URL (${name})`);
  }
  return { ...value, metadata: { ...metadata, name } };
}

function splitVersion(apiVersion: string): string[] {
  return apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
}

function readBody(text: string): Fields {
  try {
    const value = text.trimStart().startsWith('{') ? readJson(text).value : readYaml(text);
    if (isFields(value)) return value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(`error decoding YAML: error converting YAML to JSON: yaml: ${error.message}`);
  }
  throw badRequest('error decoding YAML: the body is no object');
}

function appliedFields(applied: Fields, { kind, namespace, subresource, name }: ApiRequest): FieldSet {
  try {
    return ownable(FieldSet.of(applied, shapeOf(kind)), kind, subresource);
  } catch (error) {
    if (!(error instanceof UndeclaredFieldError || error instanceof DecodeError)) throw error;
    const place = namespace === undefined ? (name ?? '') : `${namespace}/${name ?? ''}`;
    const message = `failed to create typed patch object (${place}; ${apiVersionOf(kind)}, Kind=${kind.kind}): ${error.message}`;
    // The real server wraps this as an error that has no reason.
    throw new ApiError(500, failure({ code: 500, message }));
  }
}

/** Who owns what of the live object. Who created it by other means than apply owns all of it. */
function managersOf(live: KubeObject | undefined, kind: Kind, deps: VerbDeps): Manager[] {
  if (live === undefined) return [];
  const stored = readManagers(live.metadata.managedFields);
  const creator = deps.creators.get(live.metadata.uid);
  return stored.length > 0 || creator === undefined ? stored : [creatorOf(live, kind, creator)];
}

function refuseConflicts(rivals: readonly Manager[], contested: FieldSet): void {
  const conflicts = rivals.flatMap((manager) => conflictsWith(manager, contested));
  if (conflicts.length === 0) return;
  const causes = conflicts.map(({ manager, path }) => ({
    reason: 'FieldManagerConflict',
    message: `conflict with ${printManager(manager)}`,
    field: path,
  }));
  throw statusError({ code: 409, reason: 'Conflict', message: conflictMessage(conflicts), details: { causes } });
}

/** Whether what was applied leaves everything but its managers as it was. */
function isSameState(result: KubeObject, live: KubeObject, { kind, subresource }: ApiRequest): boolean {
  const next = nextState(result, live, kind, subresource);
  const bare = ({ metadata, ...rest }: KubeObject): unknown => {
    const { managedFields: _managers, ...own } = metadata;
    return { ...rest, metadata: own };
  };
  return sameJson(bare(next), bare(live));
}

/** A version in what was applied is a condition. */
function sentVersion(managed: KubeObject, applied: Fields, live: KubeObject): KubeObject {
  const given = textOf(fieldsOf(applied['metadata'])['resourceVersion']);
  const resourceVersion = given === '' ? live.metadata.resourceVersion : given;
  return { ...managed, metadata: { ...managed.metadata, resourceVersion } };
}
