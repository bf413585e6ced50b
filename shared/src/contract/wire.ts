/** Shapes that several resources share. No value is `null`, nothing to list is `[]`; every listed field is there. */

/** An instant on the wire: UTC with milliseconds, `2026-11-21T06:52:00.000Z`. */
export type WireInstant = string;

/** A UTC day on the wire: `2026-11-20`. */
export type WireDate = string;

/** Percent from 0 to 100, at most two decimals. */
export type Percent = number;

/** Names an object that lives in a namespace. */
export interface Ref {
  readonly namespace: string;
  readonly name: string;
}

export interface Pagination {
  /** Rows that match the filters, whatever the page. */
  readonly total: number;
  /** As applied: above 500 it is lowered. */
  readonly limit: number;
  readonly offset: number;
  readonly hasMore: boolean;
}

/** A list that is always paged. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pagination: Pagination;
}

/** A list that is paged on wish: without `limit` it has everything and no `pagination`. */
export interface List<Item> {
  readonly items: readonly Item[];
  readonly pagination?: Pagination;
}

/** A condition as Kubernetes writes it. */
export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: WireInstant | null;
  readonly observedGeneration: number | null;
}

/** Bounds of every paged list. */
export const maxLimit = 500;
export const maxOffset = 100_000;
