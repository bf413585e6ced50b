import { copyJson, isFields, sameJson, type Fields } from '../json.ts';

/** An operation that cannot be done on this document. */
export class JsonPatchError extends Error {}

/** RFC 6902. Works on a copy. Throws `JsonPatchError`. */
export function jsonPatch(document: unknown, operations: readonly unknown[]): unknown {
  let result: unknown = copyJson(document);
  for (const operation of operations) result = apply(result, isFields(operation) ? operation : {});
  return result;
}

function apply(document: unknown, operation: Fields): unknown {
  const path = pointer(operation['path']);
  switch (operation['op']) {
    case 'add':
      return add(document, path, copyJson(operation['value']));
    case 'remove':
      return remove(document, path);
    case 'replace':
      read(document, path);
      return path.length === 0 ? copyJson(operation['value']) : put(document, path, copyJson(operation['value']));
    case 'move': {
      const from = pointer(operation['from']);
      const value = read(document, from);
      return add(remove(document, from), path, value);
    }
    case 'copy':
      return add(document, path, copyJson(read(document, pointer(operation['from']))));
    case 'test':
      if (!sameJson(findOrNull(document, path), operation['value'] ?? null))
        throw new JsonPatchError('testing value failed');
      return document;
    default:
      throw new JsonPatchError(`unexpected kind: ${String(operation['op'])}`);
  }
}

function pointer(value: unknown): string[] {
  if (typeof value !== 'string') throw new JsonPatchError('missing path');
  if (value === '') return [];
  if (!value.startsWith('/')) throw new JsonPatchError(`unable to parse path ${value}`);
  return value
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function child(value: unknown, part: string): unknown {
  if (Array.isArray(value)) return value[indexOf(value, part)];
  return isFields(value) && Object.hasOwn(value, part) ? value[part] : undefined;
}

function indexOf(list: readonly unknown[], part: string): number {
  if (!/^(?:0|-?[1-9][0-9]*)$/.test(part)) throw new JsonPatchError(`invalid index ${part}`);
  const index = Number(part);
  const counted = index < 0 ? list.length + index : index;
  if (counted < 0) throw new JsonPatchError(`index ${part} out of bounds`);
  return counted;
}

function read(document: unknown, path: readonly string[]): unknown {
  const value = path.reduce(child, document);
  if (value === undefined) throw new JsonPatchError(`no value at /${path.join('/')}`);
  return value;
}

/** A test of a value that is missing compares with null. */
function findOrNull(document: unknown, path: readonly string[]): unknown {
  return path.reduce(child, document) ?? null;
}

function parentOf(document: unknown, path: readonly string[]): unknown {
  return read(document, path.slice(0, -1));
}

function put(document: unknown, path: readonly string[], value: unknown): unknown {
  const parent = parentOf(document, path);
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent[indexOf(parent, last)] = value;
  else if (isFields(parent)) parent[last] = value;
  else throw new JsonPatchError(`no container at /${path.join('/')}`);
  return document;
}

function add(document: unknown, path: readonly string[], value: unknown): unknown {
  if (path.length === 0) return value;
  const parent = parentOf(document, path);
  if (!Array.isArray(parent)) return put(document, path, value);
  const last = path.at(-1) ?? '';
  const index = last === '-' ? parent.length : indexOf(parent, last);
  if (index > parent.length) throw new JsonPatchError(`index ${last} out of bounds`);
  parent.splice(index, 0, value);
  return document;
}

function remove(document: unknown, path: readonly string[]): unknown {
  read(document, path);
  const parent = parentOf(document, path);
  const last = path.at(-1) ?? '';
  if (Array.isArray(parent)) parent.splice(indexOf(parent, last), 1);
  else if (isFields(parent)) delete parent[last];
  return document;
}
