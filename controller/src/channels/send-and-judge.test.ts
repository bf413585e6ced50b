import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAnswer } from './send-and-judge.ts';

/** Every status code has exactly one meaning; ranges that are not named here are given up on, or tried again. */
const parked = new Set([401, 403, 404, 410]);
const reduced = new Set([400, 413, 422]);
const retried = new Set([408, 425, 429]);

function expected(status: number): string {
  if (status >= 200 && status < 300) return 'delivered';
  if ((status >= 300 && status < 400) || parked.has(status)) return 'park';
  if (reduced.has(status)) return 'reduce';
  return retried.has(status) || status < 200 || status >= 500 ? 'retry' : 'dead';
}

test('every status code from 100 to 999 has its meaning', () => {
  for (let status = 100; status <= 999; status += 1) {
    const outcome = judgeAnswer({ status, retryAfterMs: 5_000, text: '' }, 'full');
    const said = outcome.kind === 'delivered' ? 'delivered' : outcome.next;
    assert.equal(said, expected(status), String(status));
    assert.equal(outcome.httpStatus, status);
    if (outcome.kind === 'failed') {
      assert.equal(outcome.retryAfterMs, outcome.next === 'retry' ? 5_000 : undefined, String(status));
      assert.equal(outcome.maybeSent, status < 400 || status >= 500, String(status));
    }
  }
});

test('what refuses the reduced form too is given up', () => {
  for (const status of reduced) {
    const outcome = judgeAnswer({ status, retryAfterMs: undefined, text: '' }, 'reduced');
    assert.equal(outcome.kind === 'failed' && outcome.next, 'dead');
  }
});
