import assert from 'node:assert/strict';
import { it } from 'node:test';
import { isMadeAnew, madeAnewWithinMs } from './made-anew.ts';

it('a monitor goes on when its name comes back within ten minutes, and when it went unseen', () => {
  assert.equal(isMadeAnew(1_000 + madeAnewWithinMs, 1_000), true);
  assert.equal(isMadeAnew(1_001 + madeAnewWithinMs, 1_000), false);
  assert.equal(isMadeAnew(99 * madeAnewWithinMs, undefined), true);
});
