import type { Instant } from '../../domain/index.ts';

// Reads of an untrusted JSON value: a value of the wrong type counts as absent, and nothing here throws.

export function arrayOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Undefined for an empty text too: Kubernetes leaves empty fields out. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** A finite number; undefined for anything else. */
export function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A count: a whole number from 0; anything else is 0. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0;
}

/** An RFC 3339 text such as Kubernetes writes; undefined for anything else. */
export function instantOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string' || value.length < 20 || value[10] !== 'T') return undefined;
  const instant = Date.parse(value);
  return Number.isNaN(instant) ? undefined : instant;
}
