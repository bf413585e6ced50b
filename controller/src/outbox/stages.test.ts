import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed } from '../channels/index.ts';
import { toSettlement } from './stages.ts';

const of = { attempts: 2, now: 1_000_000, random: 0.5 };

test('what arrived is settled as delivered, what reached some recipients is tried again', () => {
  const progress = { accepted: ['a@example.org'], refused: [] };
  assert.deepEqual(toSettlement({ kind: 'delivered', httpStatus: 202, progress: undefined, unfinished: false }, of), {
    kind: 'delivered',
    httpStatus: 202,
    progress: undefined,
  });
  const unfinished = toSettlement({ kind: 'delivered', httpStatus: undefined, progress, unfinished: true }, of);
  assert.ok(unfinished.kind === 'unfinished' && unfinished.nextAt > of.now);
  assert.equal(unfinished.progress, progress);
});

for (const { says, outcome, nextAt } of [
  // Uniform between 1 s and 5 s x 2^2.
  { says: 'backs off', outcome: failed('retry', 'serverError', 'It answered 500'), nextAt: of.now + 10_500 },
  {
    says: 'waits as long as it was asked to',
    outcome: failed('retry', 'throttled', 'It answered 429', { retryAfterMs: 30_000 }),
    nextAt: of.now + 30_000,
  },
  {
    says: 'goes at once in the reduced form',
    outcome: failed('reduce', 'rejected', 'It answered 400'),
    nextAt: undefined,
  },
  { says: 'is parked', outcome: failed('park', 'notFound', 'It answered 404'), nextAt: undefined },
]) {
  test(`what was refused ${says}`, () => {
    const settlement = toSettlement(outcome, of);
    assert.ok(settlement.kind === 'failed');
    assert.deepEqual([settlement.next, settlement.nextAt], [outcome.next, nextAt]);
    assert.deepEqual(settlement.error, { category: outcome.category, message: outcome.message, httpStatus: null });
  });
}
