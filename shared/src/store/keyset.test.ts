import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterRow, orderOf } from './keyset.ts';

test('null comes last both ways', () => {
  assert.equal(
    orderOf([{ sql: 'a', descending: true, nullable: true }, { sql: 'b' }]),
    'case when a is null then 1 else 0 end, a desc, b',
  );
});

test('what comes after a row is told by each key where those before are the same', () => {
  assert.deepEqual(afterRow([{ sql: 'a', descending: true }, { sql: 'b' }], [1, 'x']), {
    sql: 'a <= ? and (a < ? or a = ? and b > ?)',
    bindings: [1, 1, 1, 'x'],
  });
});

test('after a value that may be null come the nulls, after a null only other nulls', () => {
  const keys = [{ sql: 'a', nullable: true }, { sql: 'b' }];
  assert.deepEqual(afterRow(keys, [1, 2]), { sql: '((a > ? or a is null) or a = ? and b > ?)', bindings: [1, 1, 2] });
  assert.deepEqual(afterRow(keys, [null, 2]), { sql: '(a is null and b > ?)', bindings: [2] });
});
