import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { admit, criticalReserve, type RateLimit } from './token-bucket.ts';

const perMinute = (count: number, burst: number): RateLimit => ({ periodMs: 60_000 / count, burst });

/** Sends as fast as the limit allows over `spanMs`; the instants of what went out. */
function sendAll(limit: RateLimit, spanMs: number): number[] {
  const sent: number[] = [];
  let tat: number | undefined;
  let now = 0;
  while (now < spanMs && sent.length < 5_000) {
    const answer = admit(tat, limit, now);
    if (answer.allowed) {
      sent.push(now);
      ({ tat } = answer);
    } else {
      now = answer.earliestAt;
    }
  }
  return sent;
}

test('a burst of 10 at 50 a minute lets 60 through in the first minute, not 61', () => {
  assert.equal(sendAll(perMinute(50, 10), 60_001).length, 60);
});

test('never more than burst + rate x time goes out in any span', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 1, max: 50 }), (count, burst) => {
      const limit = perMinute(count, burst);
      const sent = sendAll(limit, 5 * limit.periodMs * burst);
      for (let from = 0; from < sent.length; from++) {
        for (let to = from; to < sent.length; to++) {
          const span = (sent[to] ?? 0) - (sent[from] ?? 0);
          assert.ok(to - from + 1 <= burst + (span + 1) / limit.periodMs);
        }
      }
    }),
    { numRuns: 30 },
  );
});

test('a fifth of the burst comes on top for critical messages, in a minute', () => {
  assert.deepEqual(criticalReserve(perMinute(60, 10)), { periodMs: 30_000, burst: 2 });
  assert.deepEqual(criticalReserve(perMinute(60, 4)), { periodMs: 60_000, burst: 1 });
  assert.equal(criticalReserve(perMinute(60, 1)), undefined);
});

test('an instant far in the future, from a clock that was set back, holds for one full burst at most', () => {
  const answer = admit(10_000_000, perMinute(60, 5), 0);
  assert.deepEqual(answer, { allowed: false, earliestAt: 1_000 });
});
