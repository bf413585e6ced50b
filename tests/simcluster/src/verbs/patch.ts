import { badRequest, invalidObject, notFound, statusError } from '../http/api-error.ts';
import type { Answer, ApiRequest } from '../http/api-request.ts';
import { readMediaType } from '../http/media-type.ts';
import { toObject, unsupportedMedia, type ReadObject } from '../http/read-object.ts';
import { isFields, type Fields } from '../json.ts';
import { byPlural, type Kind } from '../kinds/kind.ts';
import { jsonPatch, JsonPatchError } from '../patch/json-patch.ts';
import { mergePatch } from '../patch/merge-patch.ts';
import { strategicMergePatch } from '../patch/strategic-merge-patch.ts';
import { DecodeError } from '../schema/decode.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { invalid } from '../validation/fault.ts';
import { applyObject } from './apply.ts';
import { readWriteOptions, type WriteOptions } from './query-options.ts';
import { checkVersion, nextState, storeNext, withGeneration, writtenBy } from './update.ts';
import type { VerbDeps } from './verb-deps.ts';

type PatchForm = 'json' | 'merge' | 'strategic' | 'apply';

const forms: Readonly<Record<string, PatchForm>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** PATCH of one object, or of its status. */
export function patchObject(request: ApiRequest, deps: VerbDeps): Answer {
  const { kind, namespace } = request;
  const name = request.name ?? '';
  const form = formOf(request);
  const options = readWriteOptions(request.query, 'PatchOptions', form === 'apply' ? 'apply' : 'other');
  if (form === 'apply') return applyObject(request, options, deps);
  const old = deps.store.get(kind.storedAs, namespace, name);
  if (old === undefined) throw notFound(byPlural(kind), name);
  const patched = decodePatched(patch(old, request.body, form, kind), kind, options);
  const sent = placed(patched.object, old);
  const { metadata } = sent;
  if (metadata.name !== name) {
    throw badRequest(`the name of the object (${metadata.name}) does not match the name on the URL (${name})`);
  }
  checkVersion(sent, old, kind);
  const next = writtenBy(nextState(sent, old, kind, request.subresource), old, { request, options, deps });
  const generation = deps.writer.generationAfter(kind, next, old);
  const warnings = options.fieldValidation === 'Ignore' ? [] : patched.problems;
  return { code: 200, body: storeNext(withGeneration(next, generation), old, { kind, options, deps }), warnings };
}

function formOf(request: ApiRequest): PatchForm {
  const { kind } = request;
  const form = forms[readMediaType(request.contentType).type];
  const custom = kind.custom !== undefined;
  if (form !== undefined && !(custom && form === 'strategic')) return form;
  if (custom) {
    throw unsupportedMedia('application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml');
  }
  throw statusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: '415: Unsupported Media Type',
    details: {},
  });
}

function patch(old: KubeObject, body: Buffer, form: PatchForm, kind: Kind): unknown {
  const value = readPatch(body, form);
  if (form === 'json') {
    if (!Array.isArray(value)) {
      const what = isFields(value) ? 'object' : typeof value;
      throw badRequest(`json: cannot unmarshal ${what} into Go value of type jsonpatch.Patch`);
    }
    try {
      return jsonPatch(old, value);
    } catch (error) {
      if (!(error instanceof JsonPatchError)) throw error;
      const message = 'the server rejected our request due to an error in our request';
      throw statusError({ code: 422, reason: 'Invalid', message, details: {} });
    }
  }
  const type = kind.traits.type;
  if (form === 'strategic' && type !== undefined && isFields(value)) return strategicMergePatch(old, value, type);
  return mergePatch(old, value);
}

function readPatch(body: Buffer, form: PatchForm): unknown {
  try {
    return readJson(body.toString()).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    throw badRequest(form === 'json' ? error.message : `error decoding patch: ${error.message}`);
  }
}

/** Reads the result of a patch as its kind. Throws a 422 that shows the result where it does not fit. */
function decodePatched(result: unknown, kind: Kind, options: WriteOptions): ReadObject {
  const fields: Fields = isFields(result) ? result : {};
  const refuse = (detail: string): Error =>
    invalidObject({ group: '', kind: '' }, '', [invalid('patch', JSON.stringify(result), detail)]);
  try {
    const read = toObject(fields, [], kind);
    if (options.fieldValidation === 'Strict' && read.problems.length > 0) {
      throw refuse(`strict decoding error: ${read.problems.join(', ')}`);
    }
    return read;
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message);
    throw error;
  }
}

/** A patch may take the version away, but not the namespace or the uid. */
function placed(object: KubeObject, old: KubeObject): KubeObject {
  const { metadata } = object;
  return {
    ...object,
    metadata: { ...metadata, resourceVersion: metadata.resourceVersion || old.metadata.resourceVersion },
  };
}
