import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Moves } from './moves.ts';

const prod = new Set(['prod']);
const shop = new Set(['shop']);

test('a commit moves the namespaces that it names and no other', () => {
  const moves = new Moves();
  const { mark } = moves;
  moves.take([{ namespace: 'prod' }]);
  assert.notEqual(moves.mark, mark);
  assert.deepEqual([moves.isMoved(mark, prod), moves.isMoved(mark, shop)], [true, false]);
  assert.equal(moves.isMoved(moves.mark, prod), false);
});

test('a message moves the namespace of its alert, and one about an alert that is not known moves everything', () => {
  const moves = new Moves();
  moves.take([{ namespace: 'prod', alertId: 'a' }]);
  const { mark } = moves;
  moves.take([{ alertId: 'a' }]);
  assert.deepEqual([moves.isMoved(mark, prod), moves.isMoved(mark, shop)], [true, false]);
  moves.take([{ alertId: 'b' }]);
  assert.equal(moves.isMoved(mark, shop), true);
});
