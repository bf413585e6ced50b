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

const controls = /\p{Cc}/u;
const everyControl = /\p{Cc}+/gu;
/** Runs of control characters become one blank: so many times what may be kept is looked at. */
const spare = 4;

/**
 * A short text from outside as one line: control characters become blanks, broken characters are repaired, and no more than `maxChars`
 * characters are kept, never half of one. What is kept does not hold on to the text it was cut from.
 */
export function toLine(text: string, maxChars: number): string {
  // Cut before anything looks at it: a text of megabytes costs no more than what may be kept of it.
  const near = cutAt(text, spare * maxChars);
  const clean = controls.test(near) ? near.replace(everyControl, ' ') : near;
  const whole = clean.isWellFormed() ? clean : clean.toWellFormed();
  return whole.length <= maxChars && near === text ? whole : copyOf(cutAt(whole, maxChars));
}

/** The first `maxChars` UTF-16 units, one fewer where that would split a character. */
export function cutAt(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const last = text.charCodeAt(maxChars - 1);
  const splits = last >= 0xd800 && last <= 0xdbff;
  return text.slice(0, splits ? maxChars - 1 : maxChars);
}

/** A part of a text keeps the whole text in memory; a copy does not. */
function copyOf(text: string): string {
  return Buffer.from(text, 'utf8').toString('utf8');
}
