import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Connections, createAddressRules } from '@cronjob-monitor/controller/channels';
import { lookAtSecrets } from '@cronjob-monitor/controller/testing';
import { judgeChannel } from '@cronjob-monitor/shared/kube';
import { OutboxBench, secondMs, type BenchChannel } from '../channels/outbox-bench.ts';
import { canary } from '../channels/receivers.ts';
import { HttpSink } from '../sinks/index.ts';

/** Addresses by which a channel might reach what is not meant for messages; `PORT` is that of a server that listens on loopback. */
const hostile: readonly { readonly says: string; readonly url: string; readonly resolvesTo?: string }[] = [
  { says: 'loopback', url: 'http://127.0.0.1:PORT/' },
  { says: 'another loopback', url: 'http://127.8.8.8:PORT/' },
  { says: 'loopback as a number', url: 'http://2130706433:PORT/' },
  { says: 'loopback in hexadecimal', url: 'http://0x7f000001:PORT/' },
  { says: 'loopback in octal', url: 'http://0177.0.0.1:PORT/' },
  { says: 'this host', url: 'http://0.0.0.0:PORT/' },
  { says: 'loopback of IPv6', url: 'http://[::1]:PORT/' },
  { says: 'a mapped loopback', url: 'http://[::ffff:127.0.0.1]:PORT/' },
  { says: 'a loopback behind NAT64', url: 'http://[64:ff9b::127.0.0.1]:PORT/' },
  { says: 'the metadata of a cloud', url: 'http://169.254.169.254/latest/meta-data/' },
  { says: 'the metadata as a number', url: 'http://2852039166/latest/meta-data/' },
  { says: 'a name that means loopback', url: 'http://receiver.example.org:PORT/', resolvesTo: '127.0.0.1' },
  { says: 'a name that means the metadata', url: 'http://receiver.example.org/', resolvesTo: '169.254.169.254' },
  { says: 'a user in the address', url: 'http://user:PASSWORD@127.0.0.1:PORT/' },
  { says: 'a file', url: 'file:///etc/passwd' },
];

/** F48: no channel makes the service speak to what is not meant for messages, and nothing of a Secret is told. */
describe('F48, an address where no message may go', () => {
  for (const { says, url, resolvesTo } of hostile) {
    test(`${says} is refused and parked, and the canary stands nowhere`, async (t) => {
      const sink = await HttpSink.start();
      t.after(() => sink.stop());
      const bench = await OutboxBench.start(t);
      const channel = await bench.addChannel('webhook');
      const written = `${url.replace('PORT', String(sink.port)).replace('PASSWORD', canary)}${canary}`;
      putUrl(bench, channel, written);
      const delivery = await bench.tell(channel);
      bench.start({
        sending: {
          addresses: createAddressRules({ deny: [], allow: [], pagingEndpoints: [] }),
          resolve: async () => [resolvesTo ?? '203.0.113.7'],
          connections: new Connections(),
        },
      });
      await bench.pass(3 * secondMs);
      assert.equal(sink.connections, 0);
      assert.equal(channel.arrivals(), 0);
      const row = await bench.rowOf(delivery);
      assert.deepEqual([row['state'], Number(row['attempts'])], ['parked', 0]);
      assert.match(String(row['last_error']), /"category":"(addressRefused|secret|rejected)"/);
      await assertNoCanary(bench);
    });
  }

  test('a user in the address is refused in the same words by the condition, a test and the log', async (t) => {
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    putUrl(bench, channel, `https://user:${canary}@receiver.example.org/`);
    const rules = { namespaces: ['monitoring'], labelled: [] };
    const findSecret = async ({ namespace, name }: { readonly namespace: string; readonly name: string }) =>
      bench.secrets.get(`${namespace}/${name}`);
    const secrets = await lookAtSecrets(channel.spec, { cluster: { findSecret }, rules }, new AbortController().signal);
    const decoded = { type: channel.spec.type, spec: channel.spec, problems: [] };
    const nothingElse = {
      refusal: undefined,
      lastFault: undefined,
      consecutiveFailures: 0,
      proof: { provedAt: undefined, provedBy: undefined, missed: undefined },
    } as const;
    const [condition] = judgeChannel({ decoded, secrets, ...nothingElse });
    const asked = await bench.ask(channel);
    const told = await bench.tell(channel);
    bench.start();
    await bench.pass(3 * secondMs);
    const [row] = await bench.rows('select last_test from channels');
    const { message: ofTest } = JSON.parse(String(row?.['last_test'])) as { message: string };
    const reasons = [asked, told].map(
      ({ id }) => bench.logger.lines.find(({ fields }) => fields['deliveryId'] === id)?.fields['reason'],
    );
    assert.match(
      String(condition?.message),
      /: the value of url has a user or a password before its host, which is not sent/,
    );
    assert.deepEqual([ofTest, ...reasons], [condition?.message, condition?.message, condition?.message]);
    await assertNoCanary(bench);
  });

  test('a name that changes its meaning between a check and a send is refused at the send', async (t) => {
    const sink = await HttpSink.start();
    t.after(() => sink.stop());
    const bench = await OutboxBench.start(t);
    const channel = await bench.addChannel('webhook');
    putUrl(bench, channel, `http://receiver.example.org:${sink.port}/${canary}`);
    let asked = 0;
    const resolve = async (): Promise<string[]> => (asked++ === 0 ? ['203.0.113.7', '127.0.0.1'] : ['127.0.0.1']);
    const delivery = await bench.tell(channel);
    const addresses = createAddressRules({ deny: [], allow: [], pagingEndpoints: [] });
    bench.start({ sending: { addresses, resolve, connections: new Connections() } });
    await bench.pass(3 * secondMs);
    assert.equal(sink.connections, 0);
    assert.equal(await bench.stateOf(delivery), 'parked');
    await assertNoCanary(bench);
  });

  test('an answer that quotes the request, redirects with it, or breaks off leaves nothing of the Secret', async (t) => {
    const bench = await OutboxBench.start(t);
    for (const type of ['webhook', 'chat'] as const) {
      const channel = await bench.addChannel(type);
      channel.http?.answerNext(
        { status: 302, headers: { location: `http://169.254.169.254/${canary}` }, body: canary },
        { status: 500, body: canary },
        { status: 401, headers: { 'www-authenticate': canary }, body: canary },
        { raw: `HTTP/1.1 299 ${canary}\r\n\r\n` },
        'cutInBody',
      );
      await bench.tell(channel);
      await bench.ask(channel);
    }
    bench.start();
    await bench.pass(60 * secondMs, 5 * secondMs);
    await assertNoCanary(bench);
  });
});

function putUrl(bench: OutboxBench, channel: BenchChannel, url: string): void {
  const key = `monitoring/${channel.name}`;
  const content = bench.secrets.get(key);
  if (content === undefined) throw new Error('the channel has no Secret');
  bench.secrets.set(key, { ...content, values: new Map([...content.values, ['url', url]]) });
}

/** In no log line, no row, no metric; headers of the spec are the channel's own words and are not looked at. */
async function assertNoCanary(bench: OutboxBench): Promise<void> {
  assert.doesNotMatch(JSON.stringify(bench.logger.lines), new RegExp(canary));
  assert.doesNotMatch(await bench.registry.metrics(), new RegExp(canary));
  const tables = ['deliveries', 'alert_decisions', 'changes', 'alerts'];
  for (const table of tables) {
    const rows = await bench.rows(`select * from ${table}`);
    assert.doesNotMatch(JSON.stringify(rows), new RegExp(canary), table);
  }
  const channels = await bench.rows('select name, reason, message, last_error, last_test from channels');
  assert.doesNotMatch(JSON.stringify(channels), new RegExp(canary), 'channels');
}
