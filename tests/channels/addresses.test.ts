import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import {
  channels,
  createAddressRules,
  getChannel,
  type AddressRules,
  type ChannelTarget,
  type SendDeps,
} from '@cronjob-monitor/controller/channels';
import type { ChannelType } from '@cronjob-monitor/shared/contract';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { HttpSink, SmtpSink } from '../sinks/index.ts';
import { anAttempt, depsOf, targetAt } from './receivers.ts';

const never = new AbortController().signal;
/** Receivers of tests take pages wherever they are; what they may be is a test of its own. */
const rulesOf = (lists: { deny: string[]; allow: string[] }): AddressRules => ({
  ...createAddressRules({ ...lists, pagingEndpoints: [] }),
  takesPages: () => true,
});
const strict = rulesOf({ deny: [], allow: [] });

/** Ways to write where no message may go; each as a host of a URL. */
const refusedHosts = [
  '127.0.0.1',
  '127.8.8.8',
  '2130706433',
  '0x7f.1',
  '0x7f000001',
  '0177.0.0.1',
  '127.1',
  '127.0.0.1.',
  '①②⑦.⓪.⓪.①',
  '0.0.0.0',
  '0',
  '[::]',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::127.0.0.1]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[2002:7f00:1::]',
  '169.254.169.254',
  '2852039166',
  '[::ffff:169.254.169.254]',
  '[64:ff9b::a9fe:a9fe]',
  '[2002:a9fe:a9fe::1]',
  '[fe80::1]',
  '[fd00:ec2::254]',
  '224.0.0.1',
  '239.255.255.255',
  '[ff02::1]',
  '255.255.255.255',
  '168.63.129.16',
  '[fd20:ce::254]',
  '[2001::1]',
  '[2001:0:4136:e378:8000:63bf:3fff:fdd2]',
  '[fd00::5efe:169.254.169.254]',
  '[2001:db8::200:5efe:127.0.0.1]',
];

/** Answers of name servers that hold an address where no message may go. */
const rebound: readonly (readonly string[])[] = [
  ['127.0.0.1'],
  ['::1'],
  ['::ffff:127.0.0.1'],
  ['169.254.169.254'],
  ['203.0.113.7', '127.0.0.1'],
  ['2001:db8::1', 'fe80::1%eth0'],
  ['168.63.129.16'],
  ['fd20:ce::254'],
  ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  ['fd00::5efe:127.0.0.1'],
  ['not an address'],
];

async function startListener(t: TestContext): Promise<HttpSink> {
  const sink = await HttpSink.start();
  t.after(() => sink.stop());
  return sink;
}

async function assertRefused(type: ChannelType, place: URL, deps: SendDeps, says: string): Promise<void> {
  const channel = getChannel(type);
  const nowhere = targetAt(type, { url: place });
  const outcome = await channel.send(anAttempt(nowhere), deps, never);
  assert.ok(outcome.kind === 'failed', says);
  const { next, category, maybeSent, httpStatus } = outcome;
  assert.deepEqual(
    { next, category, maybeSent, httpStatus },
    { next: 'invalid', category: 'addressRefused', maybeSent: false, httpStatus: undefined },
    says,
  );
  assert.doesNotMatch(outcome.message, /127|169|168|fe80|CANARY/, says);
  assert.match(outcome.message, /channels\.allow-cidrs makes exceptions/, says);
  const problem = await channel.findProblem(nowhere, deps, never);
  assert.equal(problem?.message, outcome.message, says);
  assert.deepEqual([problem?.next, problem?.category], ['invalid', 'addressRefused'], says);
}

for (const { type } of channels) {
  describe(`${type}: where no message goes`, () => {
    test('addresses in any spelling: nothing is even connected', async (t) => {
      const listener = await startListener(t);
      for (const host of refusedHosts) {
        await assertRefused(type, new URL(`https://${host}:${listener.port}`), depsOf({ addresses: strict }), host);
      }
      assert.equal(listener.connections, 0);
    });

    test('names whose addresses are such, one of several too', async (t) => {
      const listener = await startListener(t);
      const place = new URL(`https://receiver.example.org:${listener.port}`);
      for (const addresses of rebound) {
        const deps = depsOf({ addresses: strict, resolve: async () => addresses });
        await assertRefused(type, place, deps, addresses.join(', '));
      }
      assert.equal(listener.connections, 0);
    });

    test('what channels.deny-cidrs lists', async () => {
      const addresses = rulesOf({ deny: ['10.0.0.0/8', '2001:db8::/32'], allow: [] });
      for (const host of ['10.1.2.3', '[2001:db8::7]', '[::ffff:10.1.2.3]']) {
        await assertRefused(type, new URL(`https://${host}:9`), depsOf({ addresses }), host);
      }
    });

    test('private and public addresses are none of these', async () => {
      const channel = getChannel(type);
      for (const host of [
        '10.1.2.3',
        '192.168.0.1',
        '172.16.0.1',
        '[fd12::1]',
        '203.0.113.7',
        '[2001:4860::1]',
        '[64:ff9b::cb00:7107]',
      ]) {
        const somewhere = targetAt(type, { url: new URL(`https://${host}:9`) });
        assert.equal(await channel.findProblem(somewhere, depsOf({ addresses: strict }), never), undefined, host);
      }
    });

    test('a name that takes too long is no problem of the spec, and nothing waits for it', async () => {
      const clock = new FakeClock();
      const somewhere = targetAt(type, { url: new URL('https://receiver.example.org') });
      const finding = getChannel(type).findProblem(
        somewhere,
        depsOf({ clock, resolve: () => new Promise(() => {}) }),
        never,
      );
      await clock.advance(5_000);
      assert.equal(await finding, undefined);
      assert.equal(clock.sleepers, 0);
    });

    test('an unknown name is no problem of the spec', async () => {
      const somewhere = targetAt(type, { url: new URL('https://receiver.example.org') });
      const deps = depsOf({ addresses: strict, resolve: () => Promise.reject(new Error('unknown')) });
      assert.equal(await getChannel(type).findProblem(somewhere, deps, never), undefined);
    });
  });
}

for (const type of ['chat', 'webhook'] as const) {
  describe(`${type}: what is no usable address`, () => {
    for (const text of [
      'https://user:CANARY@receiver.example.org/',
      'https://user@receiver.example.org/',
      'ftp://receiver.example.org/CANARY',
      'file:///etc/CANARY',
      'javascript:CANARY',
      'receiver.example.org/CANARY',
      '//receiver.example.org/CANARY',
      'https://',
      '',
    ]) {
      test(JSON.stringify(text), async () => {
        const channel = getChannel(type);
        const { target } = targetAt(type, { url: new URL('https://receiver.example.org') });
        const secrets = (): ReadonlyMap<string, string> => new Map([['url', text]]);
        const outcome = await channel.send(anAttempt({ target, secrets }), depsOf(), never);
        assert.ok(outcome.kind === 'failed' && outcome.next === 'invalid' && outcome.category === 'secret');
        assert.doesNotMatch(outcome.message, /CANARY|receiver\.example/);
        assert.equal((await channel.findProblem({ target, secrets }, depsOf(), never))?.category, 'secret');
      });
    }
  });
}

for (const endpoint of ['http://receiver.example.org/', 'https://user:password@receiver.example.org/', 'nonsense']) {
  test(`paging: the endpoint ${endpoint} is refused before anything is sent`, async () => {
    const { target, secrets } = targetAt('paging', { url: new URL('https://receiver.example.org') });
    assert.ok(target.type === 'paging');
    const wrong = { ...target, paging: { ...target.paging, endpoint } };
    const outcome = await getChannel('paging').send(anAttempt({ target: wrong, secrets }), depsOf(), never);
    assert.ok(outcome.kind === 'failed' && outcome.next === 'invalid' && outcome.category === 'addressRefused');
  });
}

test('paging: a key goes to no endpoint but those of the installation, for its author may choose any', async () => {
  const sink = new URL('https://collector.example.org/v2/enqueue');
  const { target, secrets } = targetAt('paging', { url: sink });
  const rules = { deny: [], allow: ['127.0.0.0/8'] };
  const regions = ['https://events.pagerduty.com/v2/enqueue', 'https://events.eu.pagerduty.com/v2/enqueue'];
  const usual = createAddressRules({ ...rules, pagingEndpoints: regions });
  const channel = getChannel('paging');
  const outcome = await channel.send(anAttempt({ target, secrets }), depsOf({ addresses: usual }), never);
  assert.ok(outcome.kind === 'failed' && outcome.next === 'invalid' && outcome.category === 'addressRefused');
  assert.equal(outcome.message, 'spec.paging.endpoint is not one of channels.paging-endpoints');
  const own = createAddressRules({ ...rules, pagingEndpoints: [sink.href] });
  assert.equal(await channel.findProblem({ target, secrets }, depsOf({ addresses: own }), never), undefined);
  assert.ok(target.type === 'paging');
  for (const endpoint of [undefined, ...regions]) {
    const region: ChannelTarget = { ...target, paging: { ...target.paging, endpoint } };
    assert.equal(
      await channel.findProblem({ target: region, secrets }, depsOf({ addresses: usual }), never),
      undefined,
    );
  }
});

test('a name is asked for once: what it would answer the next time changes nothing', async (t) => {
  const first = await startListener(t);
  const answers = [['127.0.0.1'], ['169.254.169.254']];
  let asked = 0;
  const deps = depsOf({ resolve: async () => answers[asked++] ?? [] });
  const place = targetAt('webhook', { url: new URL(`http://receiver.example.org:${first.port}`) });
  assert.equal((await getChannel('webhook').send(anAttempt(place), deps, never)).kind, 'delivered');
  assert.equal(asked, 1);
  assert.equal(first.arrivals[0]?.headers.host, `receiver.example.org:${first.port}`);
});

test('of several addresses the next one is tried when the first refuses', async (t) => {
  const listener = await startListener(t);
  const mail = await SmtpSink.start();
  t.after(() => mail.stop());
  const deps = depsOf({ resolve: async () => ['127.0.0.2', '127.0.0.1'] });
  const place = targetAt('webhook', { url: new URL(`http://receiver.example.org:${listener.port}`) });
  assert.equal((await getChannel('webhook').send(anAttempt(place), deps, never)).kind, 'delivered');
  const { target, secrets } = targetAt('email', { url: new URL(`http://receiver.example.org:${mail.port}`) });
  assert.ok(target.type === 'email');
  const plain = { ...target, email: { ...target.email, tls: 'opportunistic' as const } };
  assert.equal((await getChannel('email').send(anAttempt({ target: plain, secrets }), deps, never)).kind, 'delivered');
});

test('an exception opens what it names and nothing beside it', async (t) => {
  const listener = await startListener(t);
  const addresses = rulesOf({ deny: ['127.0.0.1'], allow: ['127.0.0.1/32'] });
  const deps = depsOf({ addresses });
  const place = targetAt('webhook', { url: new URL(listener.url) });
  assert.equal((await getChannel('webhook').send(anAttempt(place), deps, never)).kind, 'delivered');
  await assertRefused('webhook', new URL('http://127.0.0.2:9'), deps, 'its neighbour');
  await assertRefused('webhook', new URL('http://[::1]:9'), deps, 'loopback of the other family');
});
