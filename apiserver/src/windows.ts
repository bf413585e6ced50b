import type { Instant } from '@cronjob-monitor/shared/domain';
import { invalidRequest } from './errors.ts';

/** Conditional requests can match within a minute. */
export function cutToMinute(at: Instant): Instant {
  return Math.floor(at / 60_000) * 60_000;
}

/** `since` is inclusive, `until` exclusive: a window that can hold nothing is refused. */
export function readWindow(
  given: { readonly since?: Instant | undefined; readonly until?: Instant | undefined },
  standard: { readonly since: Instant; readonly until?: Instant },
): { readonly since: Instant; readonly until: Instant | undefined } {
  const since = given.since ?? standard.since;
  const until = given.until ?? standard.until;
  if (until !== undefined && since >= until) {
    const message =
      given.since === undefined ? 'must be given: its standard is not before until' : 'must be before until';
    throw invalidRequest([{ in: 'query', field: 'since', message, allowed: null }]);
  }
  return { since, until };
}
