import assert from 'node:assert/strict';
import { test } from 'node:test';
import { retryAfterMsOf } from './outbound-http.ts';

const now = Date.UTC(2026, 10, 21, 8);
const at = (time: string): string => `Sat, 21 Nov 2026 ${time} GMT`;

for (const { says, headers, ms } of [
  { says: 'nothing asked', headers: {}, ms: undefined },
  { says: 'seconds', headers: { 'retry-after': ' 30 ' }, ms: 30_000 },
  { says: 'no time at all', headers: { 'retry-after': '0' }, ms: 0 },
  { says: 'a date, by our clock without another', headers: { 'retry-after': at('08:01:00') }, ms: 60_000 },
  {
    says: 'a date by a clock that is an hour behind ours',
    headers: { 'retry-after': at('07:01:00'), date: at('07:00:00') },
    ms: 60_000,
  },
  { says: 'a date that is over', headers: { 'retry-after': at('07:00:00') }, ms: 0 },
  { says: 'more than an hour', headers: { 'retry-after': '7200' }, ms: 3_600_000 },
  { says: 'a date far away', headers: { 'retry-after': 'Mon, 21 Nov 2027 08:00:00 GMT' }, ms: 3_600_000 },
  { says: 'a broken date of the answer', headers: { 'retry-after': at('08:01:00'), date: 'x' }, ms: 60_000 },
  { says: 'a fraction', headers: { 'retry-after': '1.5' }, ms: undefined },
  { says: 'a number with a sign', headers: { 'retry-after': '-1' }, ms: undefined },
  { says: 'words', headers: { 'retry-after': 'soon, or later' }, ms: undefined },
  { says: 'a year alone is no date', headers: { 'retry-after': '2027-01-01' }, ms: undefined },
]) {
  test(`Retry-After: ${says}`, () => assert.equal(retryAfterMsOf(headers, now), ms));
}
