import {
  bool,
  count,
  instant,
  int,
  listOf,
  nullable,
  object,
  type Of,
  optional,
  type Optional,
  type Shape,
  text,
} from './shape/shape.ts';

/** Shapes that several resources share. No value is `null`, nothing to list is `[]`; every listed field is there. */

/** An instant on the wire: UTC with milliseconds, `2026-11-21T06:52:00.000Z`. */
export type WireInstant = string;

/** A UTC day on the wire: `2026-11-20`. */
export type WireDate = string;

/** Percent from 0 to 100, at most two decimals. */
export type Percent = number;

/** Names an object that lives in a namespace. */
export const Ref = object('Ref', { namespace: text, name: text });
export type Ref = Of<typeof Ref>;

export const Pagination = object('Pagination', {
  /** Rows that match the filters, whatever the page. */
  total: count,
  /** As applied: above 500 it is lowered. */
  limit: count,
  offset: count,
  hasMore: bool,
});
export type Pagination = Of<typeof Pagination>;

/** A list that is always paged. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: Pagination;
}

/** A cluster whose rows an answer about several is without. */
export const MissingCluster = object('MissingCluster', { cluster: text, problem: text });
export type MissingCluster = Of<typeof MissingCluster>;

/** Only where some rows cannot be read now. */
export const missing = optional(listOf(MissingCluster));

/** The fields of `Page`. */
/* @__NO_SIDE_EFFECTS__ */
export function pageFields<T>(item: Shape<T>): {
  readonly items: Shape<readonly T[]>;
  readonly pagination: typeof Pagination;
} {
  return { items: listOf(item), pagination: Pagination };
}

/** The fields of `List`. */
/* @__NO_SIDE_EFFECTS__ */
export function listFields<T>(item: Shape<T>): {
  readonly items: Shape<readonly T[]>;
  readonly pagination: Optional<Pagination>;
} {
  return { items: listOf(item), pagination: optional(Pagination) };
}

/** A condition as Kubernetes writes it. */
export const Condition = object('Condition', {
  type: text,
  status: text,
  reason: text,
  message: text,
  lastTransitionTime: nullable(instant),
  observedGeneration: nullable(int),
});
export type Condition = Of<typeof Condition>;

/** Bounds of every paged list. */
export const maxLimit = 500;
export const maxOffset = 100_000;

/** An object of an untrusted JSON value: its fields may be of any type. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
