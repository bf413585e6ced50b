import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isCidr,
  isDnsLabel,
  isHeaderName,
  isHost,
  isHostName,
  isLoopback,
  isTimeZone,
  isUrl,
  parseBindAddress,
} from './shapes.ts';

/** Per check: what it takes, and what it refuses. */
const cases: readonly [name: string, check: (text: string) => boolean, good: string[], bad: string[]][] = [
  [
    'isDnsLabel',
    isDnsLabel,
    ['a', 'kube-system', '1', 'a'.repeat(63)],
    ['', '-a', 'a-', 'A', 'a.b', ' a', 'a'.repeat(64)],
  ],
  ['isHostName', isHostName, ['a', 'db.prod.svc', 'A1.example'], ['', 'a..b', '-a', 'a_b', '10.0.0.1', '1.2', 'a:1']],
  ['isHost', isHost, ['::', '::1', '0.0.0.0', 'localhost', 'db'], ['', '[::1]', '10.0.0.256', 'a b']],
  [
    'isCidr',
    isCidr,
    ['10.0.0.0/8', '10.1.2.3/32', '0.0.0.0/0', '::1/128', 'fd00::/8'],
    ['10.0.0.0', '10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/08', '/8', '10.0.0.0/', 'a/8', '010.0.0.0/8'],
  ],
  ['isHeaderName', isHeaderName, ['X-Forwarded-User', 'x'], ['', 'X User', 'X:', 'Ü']],
  [
    'isTimeZone',
    isTimeZone,
    ['UTC', 'Europe/Berlin', 'US/Pacific'],
    ['', 'Europe/Berlim', '+01:00', 'UTC ', 'europe/berlin'],
  ],
  [
    'isUrl',
    (text) => isUrl(text, ['http', 'https']),
    ['http://a', 'https://a:1/b?c'],
    ['', 'a', 'ftp://a', 'http://', 'http://a b'],
  ],
  [
    'isLoopback',
    isLoopback,
    ['127.0.0.1', '127.9.9.9', '::1', '0::1', 'localhost', 'a.localhost'],
    ['0.0.0.0', '::', '10.0.0.1', 'a'],
  ],
];

for (const [name, check, good, bad] of cases) {
  test(`${name} takes what is one and refuses what is none`, () => {
    for (const text of good) assert.equal(check(text), true, JSON.stringify(text));
    for (const text of bad) assert.equal(check(text), false, JSON.stringify(text));
  });
}

test('an address of a listener has an optional host and a port', () => {
  assert.deepEqual(parseBindAddress(':8443'), { host: undefined, port: 8443 });
  assert.deepEqual(parseBindAddress('127.0.0.1:0'), { host: '127.0.0.1', port: 0 });
  assert.deepEqual(parseBindAddress('localhost:65535'), { host: 'localhost', port: 65_535 });
  assert.deepEqual(parseBindAddress('[::1]:80'), { host: '::1', port: 80 });
});

test('an address of a listener without a port, with a wrong one or with a bare IPv6 host is none', () => {
  for (const wrong of [
    '',
    '8443',
    ':',
    ':65536',
    'a:',
    '::1:80',
    '[::1]',
    '[127.0.0.1]:80',
    'a b:80',
    '10.0.0.256:80',
    ':+1',
  ]) {
    assert.equal(parseBindAddress(wrong), undefined, wrong);
  }
});
