import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { admit, criticalReserve, type RateLimit } from './token-bucket.ts';

const perMinute = (count: number, burst: number): RateLimit => ({ periodMs: 60_000 / count, burst });

/** Sends as fast as the limit allows over `spanMs`; the instants of what went out. */
function sendAll(limit: RateLimit, spanMs: number, reserve = 0): number[] {
  const sent: number[] = [];
  let tat: number | undefined;
  let now = 0;
  while (now < spanMs && sent.length < 5_000) {
    const answer = admit(tat, limit, now, reserve);
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

test('leaves a fifth of the burst to critical messages', () => {
  const limit = perMinute(60, 10);
  assert.equal(sendAll(limit, 1, criticalReserve(10)).length, 8);
  assert.equal(sendAll(limit, 1).length, 10);
});

test('a burst of one has no reserve, else nothing below critical would ever go', () => {
  assert.equal(criticalReserve(1), 0);
  assert.equal(sendAll(perMinute(60, 1), 1, criticalReserve(1)).length, 1);
});

test('an instant far in the future, from a clock that was set back, holds for one full burst at most', () => {
  const answer = admit(10_000_000, perMinute(60, 5), 0);
  assert.deepEqual(answer, { allowed: false, earliestAt: 1_000 });
});
