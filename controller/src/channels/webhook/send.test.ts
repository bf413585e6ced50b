import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findHeaderProblem, mergeHeaders, readSigningKeys, sign } from './index.ts';

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

/** Key, message and signature as the libraries of Standard Webhooks test them. */
const key = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const message = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', timestamp: 1_614_265_330, body: '{"test": 2432232314}' };
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';

test('signs id, time and body as the libraries of receivers verify them', () => {
  assert.equal(sign(readSigningKeys(key) ?? [], message), signature);
});

test('two keys make two signatures, in their order', () => {
  const other = `whsec_${Buffer.alloc(64, 1).toString('base64')}`;
  const [first, second, ...more] = sign(readSigningKeys(`${key}\n${other}`) ?? [], message).split(' ');
  assert.deepEqual([first, more.length], [signature, 0]);
  assert.match(second ?? '', /^v1,[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(second, first);
});

const ofBytes = (length: number): string => `whsec_${Buffer.alloc(length, 7).toString('base64')}`;

for (const { says, value, keys } of [
  { says: 'one key', value: key, keys: 1 },
  { says: 'one key on a line', value: `  ${key}\n`, keys: 1 },
  { says: 'two keys apart by a comma', value: `${key},${key}`, keys: 2 },
  { says: 'the shortest key', value: ofBytes(24), keys: 1 },
  { says: 'the longest key', value: ofBytes(64), keys: 1 },
  { says: 'a key that is too short', value: ofBytes(23), keys: undefined },
  { says: 'a key that is too long', value: ofBytes(65), keys: undefined },
  { says: 'a key without its prefix', value: key.slice('whsec_'.length), keys: undefined },
  { says: 'something that is no base64', value: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2Laüaß-', keys: undefined },
  { says: 'a good key beside a bad one', value: `${key} whsec_x`, keys: undefined },
  { says: 'three keys', value: `${key} ${key} ${key}`, keys: undefined },
  { says: 'nothing', value: ' ', keys: undefined },
]) {
  test(`${says}: ${keys ?? 'refused'}`, () => assert.equal(readSigningKeys(value)?.length, keys));
}
