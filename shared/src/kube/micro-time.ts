import type { Instant } from '../domain/index.ts';

/** An instant as a Lease wants it: RFC 3339 with exactly six decimals; three, as JavaScript prints, are refused. */
export function toMicroTime(instant: Instant): string {
  return new Date(instant).toISOString().replace('Z', '000Z');
}

/** A time in RFC 3339 with exactly six decimals, whatever it had; undefined stays, and what is no time is returned as it is. */
export function withSixDecimals(time: string | undefined): string | undefined {
  const parts = time === undefined ? null : /^(.*T\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(time);
  if (!parts) return time;
  const [, seconds = '', decimals = '', zone = ''] = parts;
  return `${seconds}.${decimals.padEnd(6, '0').slice(0, 6)}${zone}`;
}
