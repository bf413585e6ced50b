import { isObject, type Json } from '@cronjob-monitor/shared/contract';

// Reads a monitor's spec as the API gives it: what has another form than expected counts as absent.

export function block(value: unknown, key: string): Json | undefined {
  const inner = isObject(value) ? value[key] : undefined;
  return isObject(inner) ? inner : undefined;
}

export function text(value: Json | undefined, key: string): string | undefined {
  const inner = value?.[key];
  return typeof inner === 'string' ? inner : undefined;
}

export function number(value: Json | undefined, key: string): number | undefined {
  const inner = value?.[key];
  return typeof inner === 'number' && Number.isFinite(inner) ? inner : undefined;
}

/** A switch; absent counts as `fallback`. */
export function flag(value: Json | undefined, key: string, fallback: boolean): boolean {
  const inner = value?.[key];
  return typeof inner === 'boolean' ? inner : fallback;
}

export function words(value: Json | undefined, key: string): readonly string[] {
  const inner = value?.[key];
  return Array.isArray(inner) ? inner.filter((item): item is string => typeof item === 'string') : [];
}

export function objects(value: Json | undefined, key: string): readonly Json[] {
  const inner = value?.[key];
  return Array.isArray(inner) ? inner.filter(isObject) : [];
}
