import { block, isObject, type Json } from '../../../format/monitor-spec.ts';

/** The value at a path such as `sla.maxDuration`; undefined where a step is missing. */
export function valueAt(spec: Json, path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => (isObject(value) ? value[key] : undefined), spec);
}

/** A copy of the spec with this value at a path; undefined takes the key away. The order of the keys stays. */
export function withValue(spec: Json, path: string, value: unknown): Json {
  const [key = '', ...rest] = path.split('.');
  if (rest.length > 0) return { ...spec, [key]: withValue(block(spec, key) ?? {}, rest.join('.'), value) };
  if (value !== undefined) return { ...spec, [key]: value };
  return Object.fromEntries(Object.entries(spec).filter(([name]) => name !== key));
}
