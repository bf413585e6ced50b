import type { Db } from './database.ts';

/** Values of columns on their way in and out. Rows never leave the store, and null never does either. */

export function optionalNumber(value: unknown): number | undefined {
  return value === null || value === undefined ? undefined : Number(value);
}

export function optionalText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A number of a row of several questions joined, in which -1 stands for what a part does not have. */
export function numberOfPart(value: unknown): number | undefined {
  const number = optionalNumber(value);
  return number === -1 ? undefined : number;
}

export function idOrUndefined(db: Db, value: unknown): string | undefined {
  return value === null || value === undefined ? undefined : db.dialect.id16Text(value);
}

/** An id that may be absent, as a statement binds it. */
export function idOrNull(db: Db, id: string | undefined): unknown {
  return id === undefined ? null : db.dialect.id16(id);
}

/** JSON text that only we write and parse. It escapes NUL and unpaired surrogates by itself, so any value fits every database. */
export function toJson(value: unknown): string {
  return JSON.stringify(value ?? null);
}

/** The caller names the type that toJson was given; a migration that changes a shape rewrites the rows. */
export function fromJson(value: unknown): unknown {
  return value === null || value === undefined ? undefined : JSON.parse(value as string);
}

/**
 * Text from the cluster, fit for every database: without NUL, which PostgreSQL refuses, with unpaired surrogates replaced, and
 * at most `most` characters long, cut between code points.
 */
export function cleanText(text: string, most: number): string {
  const clean = text.replaceAll('\0', '').toWellFormed();
  if (clean.length <= most) return clean;
  const codePoints = Array.from(clean);
  return codePoints.length <= most ? clean : codePoints.slice(0, most).join('');
}

export function optionalCleanText(text: string | undefined, most: number): string | null {
  return text === undefined ? null : cleanText(text, most);
}
