import { isFields, sameJson, type Fields } from '../json.ts';
import { childAt, itemElement, matches, type Element } from './element.ts';
import type { FieldSet } from './field-set.ts';
import type { Shape } from './shape.ts';

/** The live value with what was applied on top: maps, sets and lists of maps keep what was not spoken of. */
export function mergeApplied(live: unknown, applied: unknown, shape: Shape): unknown {
  if (isFields(live) && isFields(applied) && !shape.atomic) return mergeFields(live, applied, shape);
  if (!Array.isArray(live) || !Array.isArray(applied) || shape.list === 'atomic') return applied;
  const merged = live.map((item: unknown) => {
    const element = itemElement(item, shape);
    const change: unknown = (applied as unknown[]).find((one) => itemElement(one, shape) === element);
    return change === undefined ? item : mergeApplied(item, change, shape.items());
  });
  const known = new Set(live.map((item: unknown) => itemElement(item, shape)));
  return [...merged, ...(applied as unknown[]).filter((item) => !known.has(itemElement(item, shape)))];
}

function mergeFields(live: Fields, applied: Fields, shape: Shape): Fields {
  const merged: Fields = { ...live };
  for (const [key, value] of Object.entries(applied)) {
    const child = shape.child(key);
    merged[key] = child === undefined || live[key] === undefined ? value : mergeApplied(live[key], value, child);
  }
  return merged;
}

/** The value without the fields of a set. What becomes empty by that goes too: undefined. */
export function removeFields(value: unknown, set: FieldSet): unknown {
  if (set.isEmpty) return value;
  if (isFields(value)) {
    const kept = Object.entries(value).flatMap(([key, inner]) => {
      const child = set.children.get(`f:${key}`);
      const left = child === undefined ? inner : child.children.size === 0 ? undefined : removeFields(inner, child);
      return left === undefined ? [] : [[key, left] as const];
    });
    return kept.length === 0 ? undefined : Object.fromEntries(kept);
  }
  if (!Array.isArray(value)) return set.member ? undefined : value;
  const kept = value.flatMap((item: unknown) => {
    const entry = [...set.children].find(([element]) => matches(item, element));
    if (entry === undefined) return [item];
    const left = entry[1].member ? undefined : removeFields(item, entry[1]);
    return left === undefined ? [] : [left];
  });
  return kept.length === 0 ? undefined : kept;
}

/** What lies at a path; undefined when nothing does. */
function valueAt(value: unknown, path: readonly Element[]): unknown {
  return path.reduce<unknown>(childAt, value);
}

/** The fields of `set` whose values differ between two states. A field that holds others differs when it comes or goes. */
export function changedFields(set: FieldSet, before: unknown, after: unknown): FieldSet {
  return set.filter((path) => {
    const [old, now] = [valueAt(before, path), valueAt(after, path)];
    const holds = path.at(-1)?.startsWith('k:') === true;
    return holds ? (old === undefined) !== (now === undefined) : !sameJson(old, now);
  });
}
