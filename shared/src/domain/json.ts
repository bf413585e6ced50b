import { isObject, type Json } from '../contract/wire.ts';

export { isObject, type Json };

const nothing: Json = Object.freeze({});

/** The object, or an empty one: what is read of it counts as absent. */
export function objectOf(value: unknown): Json {
  return isObject(value) ? value : nothing;
}

/** The texts of a list; what is neither is left out. */
export function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** The object in a field of an object; undefined for anything else. */
export function blockIn(value: unknown, key: string): Json | undefined {
  const inner = objectOf(value)[key];
  return isObject(inner) ? inner : undefined;
}

/** The text in a field, also an empty one. */
export function textIn(value: Json | undefined, key: string): string | undefined {
  const inner = value?.[key];
  return typeof inner === 'string' ? inner : undefined;
}
