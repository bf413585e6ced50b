/** An object of an untrusted JSON value: its fields may be of any type. */
export type Json = Readonly<Record<string, unknown>>;

const nothing: Json = Object.freeze({});

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

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
