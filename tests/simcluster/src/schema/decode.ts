import { isFields, type Fields } from '../json.ts';
import { goName, type GoField, type GoType, type ScalarName, type StructType } from './go-type.ts';
import { readGoTime } from './go-time.ts';

/** A value that does not fit its type; the message is Go's. */
export class DecodeError extends Error {}

interface Decoded {
  /** Fields in the order of the Go type; empty ones are left out or filled in as an answer of the server has them. */
  readonly value: Fields;
  /** Paths of fields that the type does not know; they are dropped. */
  readonly unknown: readonly string[];
}

/** Reads a JSON object as one of the server's own types. Null counts as an empty object. Throws `DecodeError`. */
export function decode(value: unknown, type: StructType): Decoded {
  const unknown: string[] = [];
  const decoded = new Decoder(unknown).struct(value ?? {}, type, { owner: undefined, path: '', goPath: '' });
  return { value: decoded, unknown };
}

/** The object that Go makes of nothing: what a bookmark of a built-in kind carries. */
export function emptyOf(type: StructType): Fields {
  return decode({}, type).value;
}

interface Place {
  /** The struct that holds the field; undefined at the root. */
  readonly owner: string | undefined;
  /** With list indexes, as strict decoding names it. */
  readonly path: string;
  /** Without list indexes, as a type error names it. */
  readonly goPath: string;
}

class Decoder {
  readonly #unknown: string[];

  constructor(unknown: string[]) {
    this.#unknown = unknown;
  }

  struct(value: unknown, type: StructType, place: Place): Fields {
    if (!isFields(value)) throw mismatch(value, type, place);
    // In the order of the document, since that is the order in which faults are named.
    const results = new Map<GoField, unknown>();
    for (const key of Object.keys(value)) {
      const field = type.byName.get(key);
      const path = place.path === '' ? key : `${place.path}.${key}`;
      if (field === undefined) this.#unknown.push(path);
      else results.set(field, this.#field(value[key], field, this.#inside(place, type, field, path)));
    }
    const decoded: Fields = {};
    for (const field of type.fields) {
      const path = place.path === '' ? field.name : `${place.path}.${field.name}`;
      const result = results.has(field)
        ? results.get(field)
        : this.#field(undefined, field, this.#inside(place, type, field, path));
      if (result !== undefined) decoded[field.name] = result;
    }
    return decoded;
  }

  #inside(place: Place, type: StructType, field: GoField, path: string): Place {
    return { owner: type.name, path, goPath: place.goPath === '' ? field.name : `${place.goPath}.${field.name}` };
  }

  /** Undefined: the field is left out. */
  #field(value: unknown, field: GoField, place: Place): unknown {
    const absent = value === undefined || value === null;
    if (field.pointer) {
      if (absent) return field.omitEmpty ? undefined : null;
      return this.#value(value, field.type, place);
    }
    if (absent) return zeroOf(field, this, place);
    const decoded = this.#value(value, field.type, place);
    return field.omitEmpty && isEmpty(decoded, field.type) ? undefined : decoded;
  }

  #value(value: unknown, type: GoType, place: Place): unknown {
    switch (type.form) {
      case 'struct':
        return this.struct(value ?? {}, type, place);
      case 'list':
        if (!Array.isArray(value)) throw mismatch(value, type, place);
        return value.map((item: unknown, index) =>
          this.#value(item, type.item, { ...place, path: `${place.path}[${index}]` }),
        );
      case 'map': {
        if (!isFields(value)) throw mismatch(value, type, place);
        const map: Fields = {};
        for (const key of Object.keys(value).toSorted()) {
          map[key] = this.#value(value[key], type.value, { ...place, path: `${place.path}.${key}` });
        }
        return map;
      }
      default:
        return scalar(value, type.name, type, place);
    }
  }
}

function zeroOf(field: GoField, decoder: Decoder, place: Place): unknown {
  if (field.type.form === 'struct') return decoder.struct({}, field.type, place);
  if (field.omitEmpty) return undefined;
  if (field.type.form !== 'scalar') return null;
  return zeroScalars[field.type.name];
}

const zeroScalars: Record<ScalarName, unknown> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  Time: null,
  MicroTime: null,
  Quantity: '0',
  IntOrString: 0,
  bytes: null,
  raw: null,
};

function isEmpty(value: unknown, type: GoType): boolean {
  if (type.form === 'struct') return false;
  if (value === '' || value === 0 || value === false) return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

function scalar(value: unknown, name: ScalarName, type: GoType, place: Place): unknown {
  switch (name) {
    case 'string':
      if (value === null) return '';
      if (typeof value !== 'string') throw mismatch(value, type, place);
      return value;
    case 'bool':
      if (typeof value !== 'boolean') throw mismatch(value, type, place);
      return value;
    case 'int32':
    case 'int64':
      return integer(value, name, type, place);
    case 'float64':
      if (typeof value !== 'number') throw mismatch(value, type, place);
      return value;
    case 'Time':
    case 'MicroTime':
      if (typeof value !== 'string') throw mismatch(value, type, place);
      return pointInTime(value, name);
    case 'Quantity':
      return quantity(value);
    case 'IntOrString':
      if (typeof value === 'string') return value;
      return integer(value, 'int32', type, place);
    case 'bytes':
      if (typeof value !== 'string') throw mismatch(value, type, place);
      checkBase64(value);
      return value;
    default:
      return value;
  }
}

function pointInTime(text: string, form: 'Time' | 'MicroTime'): string {
  try {
    return readGoTime(text, form);
  } catch (error) {
    throw new DecodeError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}

function integer(value: unknown, name: 'int32' | 'int64', type: GoType, place: Place): number {
  if (typeof value !== 'number') throw mismatch(value, type, place);
  const limit = name === 'int32' ? 2 ** 31 : 2 ** 63;
  if (!Number.isInteger(value) || value >= limit || value < -limit) {
    throw mismatch(value, type, place, `number ${String(value)}`);
  }
  return value;
}

const quantityForm = /^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$/;

function quantity(value: unknown): string {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || !quantityForm.test(text)) {
    throw new DecodeError(
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
  }
  return text;
}

function checkBase64(text: string): void {
  const stripped = text.replaceAll(/[\r\n]/g, '');
  const bad = /[^A-Za-z0-9+/=]/.exec(stripped);
  if (bad !== null) throw new DecodeError(`illegal base64 data at input byte ${bad.index}`);
  const padding = stripped.indexOf('=');
  if (stripped.length % 4 !== 0) throw new DecodeError(`illegal base64 data at input byte ${stripped.length}`);
  if (padding !== -1 && !/^={1,2}$/.test(stripped.slice(padding))) {
    throw new DecodeError(`illegal base64 data at input byte ${padding}`);
  }
}

function mismatch(value: unknown, type: GoType, place: Place, what = kindOf(value)): DecodeError {
  const target = goName(type);
  if (place.owner === undefined)
    return new DecodeError(`json: cannot unmarshal ${what} into Go value of type ${target}`);
  return new DecodeError(
    `json: cannot unmarshal ${what} into Go struct field ${place.owner}.${place.goPath} of type ${target}`,
  );
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  if (isFields(value)) return 'object';
  return typeof value === 'boolean' ? 'bool' : typeof value;
}
