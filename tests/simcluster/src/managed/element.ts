import { fieldsOf, isFields, sameJson } from '../json.ts';
import type { Shape } from './shape.ts';

/**
 * One step of the path to a field, as managed fields write it: `f:` and a name, `k:` and the keys of an item, `v:` and an
 * item of a set.
 */
export type Element = string;

export function fieldElement(name: string): Element {
  return `f:${name}`;
}

/** The element of an item of a list that is a map or a set. */
export function itemElement(item: unknown, shape: Shape): Element {
  if (shape.list === 'set') return `v:${JSON.stringify(item)}`;
  const keys = shape.keys.toSorted().filter((key) => fieldsOf(item)[key] !== undefined);
  return `k:${JSON.stringify(Object.fromEntries(keys.map((key) => [key, fieldsOf(item)[key]])))}`;
}

/** What lies one step further; undefined when nothing does. */
export function childAt(value: unknown, element: Element): unknown {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return isFields(value) ? value[rest] : undefined;
  if (!Array.isArray(value)) return undefined;
  return value.find((item: unknown) => matches(item, element));
}

export function matches(item: unknown, element: Element): boolean {
  const wanted: unknown = JSON.parse(element.slice(2));
  if (element.startsWith('v:')) return sameJson(item, wanted);
  return Object.entries(fieldsOf(wanted)).every(([key, value]) => sameJson(fieldsOf(item)[key], value));
}

/** A path as conflicts show it, such as `.status.conditions[type="Ready"].status`. */
export function printPath(path: readonly Element[]): string {
  return path.map(printElement).join('');
}

function printElement(element: Element): string {
  const rest = element.slice(2);
  if (element.startsWith('f:')) return `.${rest}`;
  if (element.startsWith('v:')) return `[=${rest}]`;
  const keys = Object.entries(fieldsOf(JSON.parse(rest)));
  return `[${keys.map(([key, value]) => `${key}=${JSON.stringify(value)}`).join(',')}]`;
}
