import { isFields, sameJson, textOf, type Fields } from '../json.ts';
import type { GoField, GoType, StructType } from '../schema/go-type.ts';

const directives = ['$patch', '$retainKeys', '$setElementOrder', '$deleteFromPrimitiveList'];

/** Strategic merge patch of a built-in kind: lists with a key are merged item by item, as the Go type says. */
export function strategicMergePatch(target: unknown, patch: Fields, type: StructType): Fields {
  return mergeStruct(isFields(target) ? target : {}, patch, type);
}

function mergeStruct(target: Fields, patch: Fields, type: GoType | undefined): Fields {
  if (patch['$patch'] === 'replace') return withoutDirectives(patch);
  if (patch['$patch'] === 'delete') return {};
  const retained = patch['$retainKeys'];
  const result: Fields = Array.isArray(retained)
    ? Object.fromEntries(Object.entries(target).filter(([key]) => retained.includes(key)))
    : { ...target };
  for (const [key, value] of Object.entries(patch)) {
    if (directives.some((directive) => key === directive || key.startsWith(`${directive}/`))) continue;
    const field = type?.form === 'struct' ? type.byName.get(key) : undefined;
    const inner = type?.form === 'map' ? type.value : field?.type;
    if (value === null) delete result[key];
    else if (isFields(value)) result[key] = mergeStruct(isFields(result[key]) ? result[key] : {}, value, inner);
    else if (Array.isArray(value)) result[key] = mergeList(result[key], value, field);
    else result[key] = value;
  }
  removeFromPrimitiveLists(result, patch);
  orderElements(result, patch, type);
  return result;
}

function withoutDirectives(patch: Fields): Fields {
  return Object.fromEntries(Object.entries(patch).filter(([key]) => !key.startsWith('$')));
}

function mergeList(target: unknown, patch: readonly unknown[], field: GoField | undefined): unknown[] {
  const present: readonly unknown[] = Array.isArray(target) ? target : [];
  const key = field?.mergeKey;
  if (key === '') return [...present, ...patch.filter((item) => !present.some((one) => sameJson(one, item)))];
  if (key === undefined || field?.type.form !== 'list') return patch.map(stripped);
  if (patch.some((item) => isFields(item) && item['$patch'] === 'replace')) {
    return patch.filter((item) => !(isFields(item) && item['$patch'] === 'replace'));
  }
  return mergeByKey(present, patch, key, field.type.item);
}

function mergeByKey(present: readonly unknown[], patch: readonly unknown[], key: string, type: GoType): unknown[] {
  const same = (item: unknown, other: Fields): boolean => isFields(item) && sameJson(item[key], other[key]);
  let result = [...present];
  const added: unknown[] = [];
  for (const item of patch) {
    if (!isFields(item)) continue;
    if (item['$patch'] === 'delete') {
      result = result.filter((one) => !same(one, item));
      continue;
    }
    const index = result.findIndex((one) => same(one, item));
    const merged = mergeStruct(index >= 0 && isFields(result[index]) ? result[index] : {}, item, type);
    if (index >= 0) result[index] = merged;
    else added.push(merged);
  }
  // Without a wish about the order, new items stand first.
  return [...added, ...result];
}

function stripped(item: unknown): unknown {
  return isFields(item) ? withoutDirectives(item) : item;
}

function removeFromPrimitiveLists(result: Fields, patch: Fields): void {
  for (const [key, value] of Object.entries(patch)) {
    if (!key.startsWith('$deleteFromPrimitiveList/') || !Array.isArray(value)) continue;
    const name = key.slice('$deleteFromPrimitiveList/'.length);
    const list = result[name];
    if (Array.isArray(list)) result[name] = list.filter((item) => !value.includes(item));
  }
}

function orderElements(result: Fields, patch: Fields, type: GoType | undefined): void {
  for (const [key, wish] of Object.entries(patch)) {
    if (!key.startsWith('$setElementOrder/') || !Array.isArray(wish)) continue;
    const name = key.slice('$setElementOrder/'.length);
    const list = result[name];
    if (!Array.isArray(list)) continue;
    const mergeKey = type?.form === 'struct' ? type.byName.get(name)?.mergeKey : undefined;
    const identity = (item: unknown): string =>
      mergeKey === undefined || mergeKey === '' ? textOf(item) : JSON.stringify(isFields(item) ? item[mergeKey] : item);
    const order = wish.map(identity);
    const place = (item: unknown): number => {
      const index = order.indexOf(identity(item));
      return index === -1 ? order.length : index;
    };
    result[name] = list.toSorted((a, b) => place(a) - place(b));
  }
}
