import { isFields, type Fields } from '../json.ts';
import { apiVersionOf, type Kind } from '../kinds/kind.ts';
import { decode, DecodeError } from '../schema/decode.ts';
import { JsonSyntaxError, readJson } from '../schema/json-reader.ts';
import { metaTypes } from '../schema/meta-types.ts';
import type { KubeObject } from '../storage/kube-object.ts';
import { prune } from '../custom/custom-schema.ts';
import { badRequest, statusError, type ApiError } from './api-error.ts';
import { readMediaType } from './media-type.ts';
import { readYaml } from './yaml.ts';

export interface ReadObject {
  readonly object: KubeObject;
  /** Fields that were dropped or stood twice, as strict decoding names them. */
  readonly problems: readonly string[];
}

const kindOnly =
  'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }';

/** Reads the object in a body. Throws `ApiError`. */
export function readObject(body: Buffer, contentType: string, kind: Kind): ReadObject {
  const type = readMediaType(contentType).type;
  if (type === 'application/yaml') return decodeObject(readYaml(body.toString()), [], kind);
  if (type !== '' && type !== 'application/json') throw unknownBodyFormat(kind);
  const text = body.toString();
  try {
    const { value, duplicates } = readJson(text);
    if (value !== null && !isFields(value)) {
      throw new DecodeError(
        `json: cannot unmarshal ${Array.isArray(value) ? 'array' : typeof value} into Go value of type ${kindOnly}`,
      );
    }
    return decodeObject(value, duplicates, kind);
  } catch (error) {
    if (!(error instanceof JsonSyntaxError || error instanceof DecodeError)) throw error;
    throw badRequest(
      `the object provided is unrecognized (must be of type ${kind.kind}): couldn't get version/kind; json parse error: ${error.message} (${excerpt(body)})`,
    );
  }
}

function unknownBodyFormat(kind: Kind): ApiError {
  const known = 'application/json, application/yaml';
  return unsupportedMedia(kind.custom === undefined ? `${known}, application/vnd.kubernetes.protobuf` : known);
}

/** 415 that lists what would be understood. */
export function unsupportedMedia(accepted: string): ApiError {
  return statusError({
    code: 415,
    reason: 'UnsupportedMediaType',
    message: `the body of the request was in an unknown format - accepted media types include: ${accepted}`,
  });
}

/** Makes a parsed value an object of the kind. Throws `ApiError` with the words for a body that does not fit. */
function decodeObject(value: unknown, duplicates: readonly string[], kind: Kind): ReadObject {
  const fields = isFields(value) ? value : {};
  checkVersion(fields, kind);
  try {
    return toObject(fields, duplicates, kind);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    throw badRequest(`${cannotBeHandled(kind)}: ${error.message}`);
  }
}

/** The start of the message about a body whose fields do not fit their types, or are unknown where that is an error. */
export function cannotBeHandled(kind: Kind): string {
  return `${kind.kind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}`;
}

/** Drops what the kind does not know, and puts kind and version right. Throws `DecodeError`. */
export function toObject(fields: Fields, duplicates: readonly string[], kind: Kind): ReadObject {
  const id = { kind: kind.kind, apiVersion: apiVersionOf(kind) };
  const named = duplicates.map((path) => `duplicate field ${JSON.stringify(path)}`);
  const unknownTexts = (paths: readonly string[]): string[] =>
    paths.map((path) => `unknown field ${JSON.stringify(path)}`);
  if (kind.custom !== undefined) {
    const unknown: string[] = [];
    const metadata = decodeMetadata(fields['metadata'], unknown);
    const pruned = prune({ ...fields, ...id }, kind.custom.schema, '', unknown) as Fields;
    // Pruning keeps the shape of an object; kind, version and metadata are put in here.
    return {
      object: { ...pruned, ...id, metadata },
      problems: [...named, ...unknownTexts(unknown)],
    };
  }
  if (kind.traits.type === undefined) {
    const metadata = decodeMetadata(fields['metadata'], []);
    return { object: { ...fields, ...id, metadata }, problems: named };
  }
  const { value, unknown } = decode({ ...fields, ...id }, kind.traits.type);
  const metadata = completed(value['metadata']);
  return { object: { ...value, metadata } as unknown as KubeObject, problems: [...named, ...unknownTexts(unknown)] };
}

const metadataType = metaTypes.get('ObjectMeta');

function decodeMetadata(value: unknown, unknown: string[]): KubeObject['metadata'] {
  if (metadataType === undefined) throw new Error('ObjectMeta is always there');
  const decoded = decode(value, metadataType);
  unknown.push(...decoded.unknown.map((path) => `metadata.${path}`));
  return completed(decoded.value);
}

/** Decoding leaves empty texts out; these three are always read. */
function completed(value: unknown): KubeObject['metadata'] {
  const fields = isFields(value) ? value : {};
  return { name: '', uid: '', resourceVersion: '', creationTimestamp: '', ...fields };
}

function checkVersion(fields: Fields, kind: Kind): void {
  const expected = apiVersionOf(kind);
  const sent = fields['apiVersion'];
  if (typeof sent === 'string' && sent !== '' && sent !== expected) {
    throw badRequest(`the API version in the data (${sent}) does not match the expected API version (${expected})`);
  }
  const sentKind = fields['kind'];
  if (typeof sentKind === 'string' && sentKind !== '' && sentKind !== kind.kind) {
    throw badRequest(
      kind.custom === undefined
        ? `${sentKind} in version ${JSON.stringify(kind.version)} cannot be handled as a ${kind.kind}: converting (${sentKind}) to (${kind.kind}): unknown conversion`
        : `the kind in the data (${sentKind}) does not match the expected kind (${kind.kind})`,
    );
  }
}

const excerptBytes = 30;

/** The beginning of a body as errors show it: text when it looks like an object, else hexadecimal. */
function excerpt(body: Buffer): string {
  if (body.length === 0) return '<empty>';
  const start = body.subarray(0, excerptBytes);
  const shown = body[0] === 0x7b ? start.toString() : start.toString('hex');
  return body.length > excerptBytes ? `${shown} ...` : shown;
}
