import assert from 'node:assert/strict';
import { test } from 'node:test';
import { peersOf } from './authentication.ts';

const isPeer = peersOf(['10.1.2.3', '192.168.0.0/16', 'fd00::/8', '::1']);

for (const [address, expected] of [
  ['10.1.2.3', true],
  ['10.1.2.4', false],
  ['192.168.255.1', true],
  ['193.168.0.1', false],
  ['::ffff:192.168.1.1', true],
  ['::FFFF:10.1.2.3', true],
  ['::ffff:10.1.2.4', false],
  ['fd12::1', true],
  ['fd12::1%eth0', true],
  ['fe80::1', false],
  ['::1', true],
  ['', false],
  ['proxy', false],
  [undefined, false],
] as const) {
  test(`${address ?? 'a closed socket'} is ${expected ? 'a' : 'no'} peer`, () => {
    assert.equal(isPeer(address), expected);
  });
}

test('without entries no address is a peer', () => {
  assert.equal(peersOf([])('127.0.0.1'), false);
});
