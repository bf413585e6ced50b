import assert from 'node:assert/strict';
import { isIPv4 } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { createAddressRules, innerIpv4, withoutZone } from './address-rules.ts';

const usual = createAddressRules({ deny: [], allow: [], pagingEndpoints: [] });

for (const [address, inner] of [
  ['::ffff:1.2.3.4', '1.2.3.4'],
  ['::ffff:0102:0304', '1.2.3.4'],
  ['0:0:0:0:0:FFFF:1.2.3.4', '1.2.3.4'],
  ['::1.2.3.4', '1.2.3.4'],
  ['::ffff:0:1.2.3.4', '1.2.3.4'],
  ['64:ff9b::1.2.3.4', '1.2.3.4'],
  ['2002:102:304::1', '1.2.3.4'],
  ['2002:102:304:ffff:1:2:3:4', '1.2.3.4'],
  ['::1', '0.0.0.1'],
  ['2001:db8::5efe:102:304', '1.2.3.4'],
  ['2001:db8::200:5efe:102:304', '1.2.3.4'],
  ['2001:db8::100:5efe:102:304', undefined],
  ['2001:db8::1.2.3.4', undefined],
  ['64:ff9b:1::1.2.3.4', undefined],
  ['fe80::ffff:1.2.3.4', undefined],
  ['1.2.3.4', undefined],
] as const) {
  test(`${address} carries ${inner ?? 'no IPv4 address'}`, () => assert.equal(innerIpv4(address), inner));
}

test('an IPv4 address is judged the same in every IPv6 address that carries it', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const hex = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
      const groups = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
      const forms = [`::ffff:${address}`, `::ffff:${groups}`, `64:ff9b::${groups}`, `2002:${groups}::`];
      for (const form of forms) assert.equal(usual.refuses(form), usual.refuses(address), form);
    }),
  );
});

const metadataServices = ['168.63.129.16', '100.100.100.200', '192.0.0.192'];

test('of IPv4, exactly loopback, this host, link-local, multicast, metadata services and what is reserved are refused', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [first = 0, second = 0] = address.split('.').map(Number);
      const isBad = [0, 127].includes(first) || (first === 169 && second === 254) || first >= 224;
      assert.equal(usual.refuses(address), isBad || metadataServices.includes(address));
    }),
    {
      examples: [
        ['127.255.255.255'],
        ['128.0.0.0'],
        ['169.254.0.0'],
        ['169.255.0.0'],
        ['240.0.0.1'],
        ['168.63.129.16'],
        ['100.100.100.200'],
        ['192.0.0.192'],
        ['100.100.100.201'],
        ['255.255.255.255'],
        ['0.1.2.3'],
      ],
    },
  );
});

test('of IPv6, metadata services, site-local addresses and tunnels to anywhere are refused', () => {
  for (const address of [
    'fd00:ec2::254',
    'fd20:ce::254',
    'fec0::1',
    'feff:ffff::1',
    '64:ff9b:1::1',
    '64:ff9b:1:ffff:1:2:3:4',
    '2001::1',
    '2001:0:4136:e378:8000:63bf:3fff:fdd2',
    'fd00::5efe:169.254.169.254',
    '2001:db8::200:5efe:127.0.0.1',
    '64:ff9b::169.254.169.254',
    '2002:a9fe:a9fe::1',
  ]) {
    assert.equal(usual.refuses(address), true, address);
  }
  for (const address of [
    'fd20:ce::253',
    'fd00::5efe:10.0.0.1',
    '2001:1::1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:2::1',
    'fc00::1',
  ]) {
    assert.equal(usual.refuses(address), false, address);
  }
});

test('whatever is no address is refused', () => {
  for (const text of ['', 'localhost', '1.2.3', '1.2.3.4.5', '0x7f.1', '::g', '[::1]', 'fe80::1%eth0']) {
    assert.equal(usual.refuses(text), true, text);
  }
  assert.equal(isIPv4('0x7f.1'), false);
});

test('a zone is no part of an address', () => {
  assert.equal(withoutZone('fe80::1%eth0'), 'fe80::1');
  assert.equal(usual.refuses('2001:4860::1%eth0'), false);
});

test('exceptions win over all that is refused, in both families', () => {
  const rules = createAddressRules({
    deny: ['10.0.0.0/8', '192.168.1.1'],
    allow: ['127.0.0.0/8', '::1', '10.1.0.0/16'],
    pagingEndpoints: [],
  });
  const refused = ['10.2.0.1', '192.168.1.1', '::ffff:192.168.1.1', '169.254.1.1', 'fe80::1'];
  const tunnels = ['fd00::5efe:127.0.0.1', '2001:db8::200:5efe:10.1.2.3', '2002:7f00:1::1'];
  const allowed = ['127.9.9.9', '::ffff:127.0.0.1', '::1', '10.1.2.3', '192.168.1.2'];
  assert.deepEqual(
    [...refused, ...tunnels].filter((address) => !rules.refuses(address)),
    [],
  );
  const opened = createAddressRules({ deny: [], allow: ['fd00::/16'], pagingEndpoints: [] });
  assert.equal(opened.refuses('fd00::5efe:127.0.0.1'), false, 'an exception that names the network opens its tunnels');
  assert.deepEqual(
    allowed.filter((address) => rules.refuses(address)),
    [],
  );
});
