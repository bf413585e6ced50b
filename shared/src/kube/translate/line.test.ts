import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutAt, toLine } from './fields.ts';

test('a short text is one line, and no half of a character', () => {
  assert.equal(toLine('a\nb\0\u001bc', 100), 'a b c');
  assert.equal(toLine('ab😀', 3), 'ab');
  assert.equal(toLine('a\ud800', 100), 'a\ufffd');
  assert.equal(cutAt('ab😀c', 4), 'ab😀');
});
