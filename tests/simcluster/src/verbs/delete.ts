import { badRequest, conflict, forbiddenError, invalidObject, notFound } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { isFields, textOf, type Fields } from '../json.ts';
import { byKind, byPlural, type Kind } from '../kinds/kind.ts';
import { decode, DecodeError } from '../schema/decode.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';
import { metaTypes } from '../schema/meta-types.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { forbidden, invalid, notSupported, type Fault } from '../validation/fault.ts';
import { collectionMatches } from './list.ts';
import type { Propagation, Removal, RemoveOptions } from './object-writer.ts';
import { dryRunFaults, readInteger } from './query-options.ts';
import type { VerbDeps } from './verb-deps.ts';

interface DeleteOptions extends RemoveOptions {
  readonly dryRun: boolean;
  readonly orphanDependents: boolean | undefined;
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
}

const propagations = ['Foreground', 'Background', 'Orphan'];
const protectedNamespaces = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];
const orphansByDefaultWarning =
  'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning';

/** DELETE of one object. */
export function deleteObject(request: ApiRequest, deps: VerbDeps): Answer {
  const { kind, namespace } = request;
  const name = request.name ?? '';
  const options = readDeleteOptions(request);
  if (kind.storedAs === 'namespaces' && protectedNamespaces.includes(name)) {
    throw forbiddenError(byPlural(kind), name, 'this namespace may not be deleted');
  }
  const object = deps.store.get(kind.storedAs, namespace, name);
  if (object === undefined) throw notFound(byPlural(kind), name);
  checkPreconditions(object, options, kind);
  const silent = options.propagation !== undefined || kind.traits.orphansByDefault !== true;
  const warnings = silent ? [] : [orphansByDefaultWarning];
  if (options.dryRun) return { code: 200, body: answerOf({ object, gone: true }, kind), warnings };
  const removal = deps.writer.remove(kind, object, options);
  // Only this old option asks to be told that dependents are still on their way out.
  const code = !removal.gone && options.orphanDependents === false ? 202 : 200;
  return { code, body: answerOf(removal, kind), warnings };
}

function answerOf({ object, gone }: Removal, kind: Kind): unknown {
  if (!gone || kind.traits.answersDeleted === true) return object;
  const { name, uid } = object.metadata;
  const details = { name, ...(kind.group === '' ? {} : { group: kind.group }), kind: kind.plural, uid };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}

/** DELETE of all objects that a selector finds. Answers the list of them. */
export function deleteCollection(request: ApiRequest, deps: VerbDeps): Answer {
  const options = readDeleteOptions(request);
  const matches = collectionMatches(request);
  const table = deps.store.table(request.kind.storedAs);
  const version = String(deps.store.version);
  const objects = [...table.objects(request.namespace)].filter((object) => matches?.(object) ?? true);
  if (!options.dryRun) for (const object of objects) deps.writer.remove(request.kind, object, options);
  return { code: 200, body: { listOf: request.kind, metadata: { resourceVersion: version }, items: objects } };
}

function checkPreconditions(object: KubeObject, options: DeleteOptions, kind: Kind): void {
  const { name, uid, resourceVersion } = object.metadata;
  if (options.uid !== undefined && options.uid !== uid) {
    const detail = `the UID in the precondition (${options.uid}) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    throw conflict(byKind(kind), name, detail);
  }
  if (options.resourceVersion !== undefined && options.resourceVersion !== resourceVersion) {
    const detail = `the ResourceVersion in the precondition (${options.resourceVersion}) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    throw conflict(byKind(kind), name, detail);
  }
}

/** Options of the body; those of the query only when there is no body. Throws `ApiError`. */
function readDeleteOptions(request: ApiRequest): DeleteOptions {
  const fields = request.body.length > 0 ? optionsOfBody(request.body) : optionsOfQuery(request.query);
  const faults = optionFaults(fields);
  if (faults.length > 0) throw invalidObject({ group: 'meta.k8s.io', kind: 'DeleteOptions' }, '', faults);
  const orphan = fields['orphanDependents'];
  const orphanDependents = typeof orphan === 'boolean' ? orphan : undefined;
  const asked = textOf(fields['propagationPolicy']) as Propagation | '';
  const byOrphan = orphanDependents === true ? 'Orphan' : 'Background';
  const preconditions = isFields(fields['preconditions']) ? fields['preconditions'] : {};
  const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
  const grace = fields['gracePeriodSeconds'];
  const propagation = asked === '' ? (orphanDependents === undefined ? undefined : byOrphan) : asked;
  return {
    dryRun: Array.isArray(fields['dryRun']) && fields['dryRun'].length > 0,
    orphanDependents,
    uid: text(preconditions['uid']),
    resourceVersion: text(preconditions['resourceVersion']),
    ...(propagation === undefined ? {} : { propagation }),
    ...(typeof grace === 'number' ? { graceSeconds: grace } : {}),
  };
}

function optionsOfQuery(query: URLSearchParams): Fields {
  const grace = readInteger(query, 'gracePeriodSeconds');
  const policy = query.get('propagationPolicy');
  const orphan = query.get('orphanDependents');
  const dryRun = query.getAll('dryRun');
  return {
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(orphan === null ? {} : { orphanDependents: orphan === 'true' }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}

function optionsOfBody(body: Buffer): Fields {
  try {
    const { value } = readJson(body.toString());
    const sent = isFields(value) ? value : {};
    const kind = textOf(sent['kind']);
    if (kind !== '' && kind !== 'DeleteOptions') {
      const version = JSON.stringify(textOf(sent['apiVersion']));
      throw badRequest(
        `no kind ${JSON.stringify(kind)} is registered for version ${version} in scheme "pkg/runtime/scheme.go:111"`,
      );
    }
    const type = metaTypes.get('DeleteOptions');
    return type === undefined ? sent : decode(value, type).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw badRequest(`couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof DecodeError) throw badRequest(error.message);
    throw error;
  }
}

function optionFaults(options: Fields): Fault[] {
  const faults: Fault[] = [];
  const policy = options['propagationPolicy'];
  if (options['orphanDependents'] !== undefined && policy !== undefined) {
    const detail = 'orphanDependents and deletionPropagation cannot be both set';
    faults.push(invalid('propagationPolicy', policy, detail));
  }
  if (policy !== undefined && !propagations.includes(textOf(policy))) {
    faults.push(notSupported('propagationPolicy', policy, [...propagations, 'nil']));
  }
  const dryRun = Array.isArray(options['dryRun']) ? options['dryRun'].map(textOf) : [];
  faults.push(...dryRunFaults(dryRun));
  if (options['ignoreStoreReadErrorWithClusterBreakingPotential'] === true && dryRun.length > 0) {
    faults.push(forbidden('dryRun', 'cannot be set'));
  }
  return faults;
}
