import type { LoadedConfig } from './config-view.ts';
import { configKeys, rowOf, type ConfigKey } from './keys.ts';
import { withoutUser } from './source.ts';
import type { Given } from './value-kinds.ts';

/** A value as it may be shown: bool and int as such, the rest as text; null = not set. */
export type SafeValue = boolean | number | string | readonly string[] | null;

/** Keys nested at their dots. */
export interface NestedConfig {
  readonly [name: string]: SafeValue | NestedConfig;
}

/** What may be shown of a configuration: each key, in the order of the table. */
export function safeValues(loaded: LoadedConfig): ReadonlyMap<ConfigKey, SafeValue> {
  return new Map(configKeys.map((key) => [key, safeValue(key, loaded)]));
}

/**
 * The body of `GET /api/v1/config`: keys nested at their dots, durations as text, secrets as `***`, URLs without user and
 * query, null for what is not set. `sources` names each key that is not at its default.
 */
export function presentConfig(loaded: LoadedConfig): NestedConfig & {
  readonly sources: Readonly<Record<string, 'flag' | 'environment' | 'file'>>;
} {
  const sources: Record<string, 'flag' | 'environment' | 'file'> = {};
  for (const [key, { source }] of loaded.settings) if (source.from !== 'default') sources[key] = source.from;
  return { ...nest(safeValues(loaded)), sources }; // No key is called `sources`.
}

function safeValue(key: ConfigKey, loaded: LoadedConfig): SafeValue {
  const given = loaded.settings.get(key)?.given;
  const { kind, sensitive } = rowOf(key);
  if (given === undefined) return null;
  if (sensitive) return '***';
  const value = loaded.config[key];
  if (typeof value === 'boolean' || (kind.name === 'int' && typeof value === 'number')) return value;
  if (kind.isList) return Array.isArray(value) ? value.map(String) : [];
  return textOf(given);
}

function textOf(given: Given): string {
  return typeof given === 'string' ? withoutUser(given) : given.join(',');
}

/** `{a: {b: 1}}` of `a.b = 1`. */
export function nest(values: ReadonlyMap<string, SafeValue>): NestedConfig {
  const root: Record<string, SafeValue | NestedConfig> = {};
  for (const [key, value] of values) {
    const path = key.split('.');
    const last = path.pop() ?? key;
    let block = root;
    for (const name of path) block = (block[name] ??= {}) as typeof block; // A block never has the name of a key.
    block[last] = value;
  }
  return root;
}
