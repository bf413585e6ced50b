import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHeaderProblem, mergeHeaders } from './headers.ts';

for (const name of [
  'Host',
  'connection',
  'Transfer-Encoding',
  'content-length',
  'Content-Encoding',
  'webhook-id',
  'Webhook-Anything',
  'a b',
  'a:b',
  '',
]) {
  test(`the spec may not name ${JSON.stringify(name)}`, () =>
    assert.equal(typeof findHeaderProblem({ [name]: 'x' }), 'string'));
}

for (const value of ['a\r\nb: c', 'a\nb', 'a\0b', 'a\u20acb']) {
  test(`a value of ${JSON.stringify(value)} cannot be sent`, () => {
    assert.equal(findHeaderProblem({ 'X-A': value }), 'the value of the header X-A cannot be sent');
  });
}

test('other names and values pass', () => {
  const headers = {
    Authorization: 'Bearer x',
    'X-Team': 'caf\u00e9',
    'Content-Type': 'text/plain',
    'User-Agent': 'me',
  };
  assert.equal(findHeaderProblem(headers), undefined);
});

test('names differ by letters, not by case: ours win but for the content type', () => {
  const merged = mergeHeaders(
    { 'Content-Type': 'a/b', 'Idempotency-KEY': 'theirs', 'X-A': '1' },
    { 'idempotency-key': 'ours', 'webhook-id': 'ours' },
  );
  assert.deepEqual(merged, {
    'content-type': 'a/b',
    'user-agent': 'cronjob-monitor',
    'idempotency-key': 'ours',
    'x-a': '1',
    'webhook-id': 'ours',
  });
});
