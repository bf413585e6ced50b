import type { Pagination, Problem } from '@cronjob-monitor/shared/contract';
import type { Rule } from './validate.ts';

export interface PageRequest {
  readonly limit: number;
  readonly offset: number;
}

interface Paging {
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

/** Rows of a page where the query names none, of most lists. */
export const usualPageSize = 50;

/** For a list that is always paged. */
export function pageOf(query: Paging, defaultLimit: number): PageRequest {
  return { limit: query.limit ?? defaultLimit, offset: query.offset ?? 0 };
}

/** For a list that is paged on wish: undefined = everything. */
export function pageOnWish(query: Paging): PageRequest | undefined {
  return query.limit === undefined ? undefined : { limit: query.limit, offset: query.offset ?? 0 };
}

/** A list that is paged on wish has no offset by itself. */
export const offsetNeedsLimit: Rule<Paging> = (query) =>
  query.offset !== undefined && query.limit === undefined ? [problem('offset', 'needs limit')] : [];

/** An export has all rows. */
export const exportsAreWhole: Rule<Paging & { readonly format?: string | undefined }> = (query) =>
  query.format === undefined
    ? []
    : (['limit', 'offset'] as const)
        .filter((field) => query[field] !== undefined)
        .map((field) => problem(field, 'is not possible with format: an export has all rows'));

export function toPagination(page: PageRequest, total: number): Pagination {
  return { total, limit: page.limit, offset: page.offset, hasMore: page.offset + page.limit < total };
}

function problem(field: string, message: string): Problem {
  return { in: 'query', field, message, allowed: null };
}
