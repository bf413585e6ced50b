/** A JSON object of which nothing is known yet. */
export type Fields = Record<string, unknown>;

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value as an object; an empty one when it is anything else. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** The value as a list; an empty one when it is anything else. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty when it is anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The value as a map of texts; empty when it is anything else. */
export function textsOf(value: unknown): Record<string, string> {
  // Decoded labels and annotations hold texts only.
  return fieldsOf(value) as Record<string, string>;
}

/** What lies at a path of keys; undefined where the path ends early. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let here = value;
  for (const key of path) {
    if (!isFields(here)) return undefined;
    here = here[key];
  }
  return here;
}

/** Equal as JSON; a key that holds undefined is a key that is not there. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    return a.every((item, index) => sameJson(item, b[index]));
  }
  if (!isFields(a) || !isFields(b)) return false;
  for (const key of Object.keys(a)) if (!sameJson(a[key], b[key])) return false;
  for (const key of Object.keys(b)) if (a[key] === undefined && b[key] !== undefined) return false;
  return true;
}

/** A deep copy of plain JSON. */
export function copyJson<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => copyJson(item)) as T;
  if (!isFields(value)) return value;
  const copy: Fields = {};
  for (const [key, item] of Object.entries(value)) if (item !== undefined) copy[key] = copyJson(item);
  return copy as T;
}
