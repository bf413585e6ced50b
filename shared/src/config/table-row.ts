import type { ValueKind } from './value-kinds.ts';

/** Which processes act by a key: the controller, the apiserver, or both. Standalone is both. */
export type Reader = 'C' | 'A' | 'CA';

/** One key of the configuration: all that is known of it. */
export interface Row<T> {
  readonly kind: ValueKind<T>;
  /** The text of the default as it would be written; null: none. */
  readonly default: string | null;
  readonly by: Reader;
  /** What it is for, one line for people. */
  readonly doc: string;
  /** Shown as `***` wherever it is shown. */
  readonly sensitive: boolean;
  /** Without a value it means the namespace the process runs in. */
  readonly ownNamespace: boolean;
}

/** The type of a key's value: undefined is possible only where there is no default. */
export type ValueOf<R> = R extends Row<infer T> & { readonly default: infer D }
  ? D extends null
    ? T | undefined
    : T
  : never;

/** A row of the table. `fallback` is the default, null for none. */
export function row<T, D extends string | null>(
  by: Reader,
  kind: ValueKind<T>,
  fallback: D,
  doc: string,
): Row<T> & { readonly default: D } {
  return { kind, default: fallback, by, doc, sensitive: false, ownNamespace: false };
}

/** The row of a secret. */
export function sensitive<R extends Row<unknown>>(one: R): R {
  return { ...one, sensitive: true };
}

/** The row of a key whose absence means our own namespace. */
export function ownNamespace<R extends Row<unknown> & { readonly default: null }>(one: R): R {
  return { ...one, ownNamespace: true };
}

/** The same rows with a prefix before each key. */
export function under<P extends string, Rows extends Readonly<Record<string, Row<unknown>>>>(
  prefix: P,
  rows: Rows,
): { readonly [K in keyof Rows & string as `${P}.${K}`]: Rows[K] } {
  const entries = Object.entries(rows).map(([key, one]) => [`${prefix}.${key}`, one]);
  return Object.fromEntries(entries); // Object.fromEntries forgets the names of its keys; the type above keeps them.
}
