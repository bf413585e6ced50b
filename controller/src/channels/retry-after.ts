import type { Instant } from '@cronjob-monitor/shared/domain';

/** More than this is not believed. */
const longestMs = 60 * 60_000;

/**
 * How long a receiver asks to be left alone: seconds, or a date, which is measured against the answer's own Date, so that clocks
 * need not agree (RFC 9110, 10.2.3). Undefined when it does not ask, or in a form that nobody knows.
 */
export function retryAfterMsOf(
  headers: { readonly 'retry-after'?: string | undefined; readonly date?: string | undefined },
  now: Instant,
): number | undefined {
  const asked = headers['retry-after']?.trim();
  if (asked === undefined) return undefined;
  if (/^\d+$/.test(asked)) return Math.min(Number(asked) * 1_000, longestMs);
  const until = dateOf(asked);
  if (until === undefined) return undefined;
  const wait = until - (dateOf(headers.date) ?? now);
  return Math.min(Math.max(0, wait), longestMs);
}

/** An HTTP date begins with the name of a day; what `Date.parse` takes besides is none. */
function dateOf(text: string | undefined): Instant | undefined {
  const at = text !== undefined && /^[A-Za-z]{3,9},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
