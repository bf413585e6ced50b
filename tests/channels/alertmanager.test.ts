import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, test, type TestContext } from 'node:test';
import { createFreeze } from '@cronjob-monitor/controller/alerting';
import { Connections, createAddressRules } from '@cronjob-monitor/controller/channels';
import { AlertmanagerUpkeep, createSecretReader, type Dispatcher } from '@cronjob-monitor/controller/outbox';
import { systemClock } from '@cronjob-monitor/shared/process';
import { findAlert, listDecisions, putAcknowledgement } from '@cronjob-monitor/shared/store';
import { aCronJob } from '@cronjob-monitor/shared/testing';
import { createRaising, failedAt } from '../faults/outbox/raising.ts';
import {
  buildAlertmanager,
  startAlertmanagers,
  whyNoAlertmanager,
  type AlertmanagerCluster,
  type AlertmanagerPrograms,
} from '../servers/index.ts';
import { HttpSink } from '../sinks/index.ts';
import { OutboxBench, type BenchChannel } from './outbox-bench.ts';
import { alertmanagerAt, anAttempt, depsOf } from './receivers.ts';
import { getChannel } from '@cronjob-monitor/controller/channels';

const source = 'cronjob-monitor-1f2e3d4c';
/** Before the first test: a build that outlasts those before it would leave the rest out. */
const built = await buildAlertmanager();

interface PostedAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
}

const postedTo = (sink: HttpSink): PostedAlert[][] =>
  sink.arrivals.filter(({ method }) => method === 'POST').map(({ body }) => JSON.parse(body) as PostedAlert[]);

/** Outbox, dispatcher and upkeep of one channel of the format. */
async function begin(
  t: TestContext,
  urls: string,
  time?: typeof systemClock,
  ownerOf: () => string | undefined = () => undefined,
): Promise<{
  readonly bench: OutboxBench;
  readonly channel: BenchChannel;
  readonly dispatcher: Dispatcher;
  /** All that is so is said again now. */
  readonly sayAgain: () => void;
  /** What the process is that leads next: nothing of the one before is left but the database. */
  readonly succeed: () => void;
}> {
  const bench = await OutboxBench.start(t, time && { time });
  const at = alertmanagerAt(urls);
  const receiver = { ...at, type: 'webhook' as const, arrivals: () => 0, wire: () => [], stop: async () => {} };
  const channel = await bench.addChannel('webhook', { receiver });
  const { dispatcher } = bench.start({ onMoreToTell: (uid) => upkeep.soon(uid) });
  let term = new AbortController();
  const lead = (): AlertmanagerUpkeep => {
    term = new AbortController();
    const led = new AlertmanagerUpkeep({
      store: bench.store,
      epoch: bench.epoch,
      channels: { values: () => [{ uid: channel.uid, name: channel.name, decoded: { spec: channel.spec } }] },
      secrets: createSecretReader({
        cluster: { findSecret: async ({ namespace, name }) => bench.secrets.get(`${namespace}/${name}`) },
        rules: { namespaces: ['monitoring'], labelled: [] },
        clock: bench.time,
      }),
      sending: {
        clock: bench.time,
        addresses: createAddressRules({ deny: [], allow: ['127.0.0.0/8'], pagingEndpoints: [] }),
        resolve: async () => ['127.0.0.1'],
        connections: new Connections(),
      },
      freeze: createFreeze({ clusterName: undefined, externalUrl: undefined, findCronJob: () => undefined, ownerOf }),
      ownerOf,
      source,
      turn: (uid, work) => dispatcher.turn(uid, work),
      metrics: bench.metrics,
      database: { isAway: () => false, whenBack: async () => {} },
      onFenced: () => {},
      clock: bench.time,
      logger: bench.logger,
    });
    void led.run(term.signal);
    return led;
  };
  let upkeep = lead();
  t.after(() => term.abort(new Error('the test is over')));
  return {
    bench,
    channel,
    dispatcher,
    sayAgain: () => upkeep.soon(channel.uid),
    succeed: () => {
      term.abort(new Error('it leads no more'));
      upkeep = lead();
    },
  };
}

const cronJob = (name: string) => aCronJob({ uid: randomUUID(), namespace: 'prod', name });
const over = (at: number) => ({ kind: 'quiet', by: 'nightly-2', byEndedAt: at }) as const;

describe('an Alertmanager is told what is so', () => {
  test('an alert is sent again each minute until it ends, and its end for 15 minutes', async (t) => {
    const sink = await HttpSink.start({ answer: ({ method }) => (method === 'GET' ? { body: '[]' } : {}) });
    t.after(() => sink.stop());
    const { bench, channel, succeed } = await begin(t, sink.url);
    const say = await createRaising(bench, channel, cronJob('nightly'));
    const sinceAt = bench.clock.now();
    await say(failedAt(sinceAt));
    await bench.pass(5_000);
    const labels = {
      alertname: 'JobFailed',
      source,
      namespace: 'prod',
      cronjob: 'nightly',
      severity: 'warning',
      monitor: 'prod/everything',
    };
    const told = (): PostedAlert[] => postedTo(sink).flat();
    assert.deepEqual(told()[0]?.labels, labels);
    for (let minute = 1; minute <= 3; minute++) {
      const before = told().length;
      if (minute === 2) succeed();
      await bench.pass(61_000);
      assert.ok(told().length > before, `minute ${minute}`);
      const last = told().at(-1);
      assert.deepEqual([last?.labels, last?.startsAt], [labels, new Date(sinceAt).toISOString()]);
      const openMs = Date.parse(last?.endsAt ?? '') - bench.clock.now();
      assert.ok(openMs > 13 * 60_000 && openMs <= 15 * 60_000, `${openMs} ms`);
    }
    const endedAt = bench.clock.now();
    await say(over(endedAt));
    await bench.pass(14 * 60_000, 20_000);
    const ends = told().filter(({ endsAt }) => Date.parse(endsAt) === endedAt);
    assert.ok(ends.length >= 10, `${ends.length} times`);
    assert.ok(ends.every((end) => JSON.stringify(end.labels) === JSON.stringify(labels)));
    await bench.pass(3 * 60_000, 20_000);
    const count = told().length;
    await bench.pass(5 * 60_000, 20_000);
    assert.equal(told().length, count);
    const rows = await bench.rows('select kind, state from deliveries order by seq');
    assert.deepEqual(
      rows.map(({ kind, state }) => `${String(kind)} ${String(state)}`),
      ['firing sent', 'closing sent'],
    );
  });

  test('a severity that rises ends the labels of before, once the new ones are there', async (t) => {
    const sink = await HttpSink.start({ answer: ({ method }) => (method === 'GET' ? { body: '[]' } : {}) });
    t.after(() => sink.stop());
    const { bench, channel } = await begin(t, sink.url);
    const say = await createRaising(bench, channel, cronJob('nightly'));
    await say(failedAt(bench.clock.now()));
    await bench.pass(2_000);
    const worse = { ...failedAt(bench.clock.now()), severity: 'critical' } as const;
    await say(worse);
    await bench.pass(5_000);
    const last = new Map(
      postedTo(sink)
        .flat()
        .map((alert) => [alert.labels['severity'], Date.parse(alert.endsAt) > bench.clock.now()]),
    );
    assert.deepEqual([...last].sort(), [
      ['critical', true],
      ['warning', false],
    ]);
  });

  for (const { when, isSucceeded } of [
    { when: 'while one leads', isSucceeded: false },
    { when: 'between one leader and the next', isSucceeded: true },
  ])
    test(`an owner that changes ${when} ends the labels of before; those of now go on`, async (t) => {
      const sink = await HttpSink.start({ answer: ({ method }) => (method === 'GET' ? { body: '[]' } : {}) });
      t.after(() => sink.stop());
      let owner: string | undefined;
      const { bench, channel, succeed } = await begin(t, sink.url, undefined, () => owner);
      const say = await createRaising(bench, channel, cronJob('nightly'), () => owner);
      await say(failedAt(bench.clock.now()));
      await bench.pass(5_000);
      const isOpen = (): [string | undefined, boolean][] => [
        ...new Map(
          postedTo(sink)
            .flat()
            .map((alert) => [alert.labels['owner'], Date.parse(alert.endsAt) > bench.clock.now()]),
        ),
      ];
      assert.deepEqual(isOpen(), [[undefined, true]]);
      owner = 'team-data';
      if (isSucceeded) succeed();
      await bench.pass(61_000);
      const later: ReturnType<typeof isOpen> = [
        [undefined, false],
        ['team-data', true],
      ];
      assert.deepEqual(isOpen(), later);
      owner = 'team-web';
      await bench.pass(61_000);
      assert.deepEqual(isOpen(), [...later.slice(0, 1), ['team-data', false], ['team-web', true]]);
      const before = postedTo(sink).length;
      await bench.pass(16 * 60_000, 20_000);
      assert.ok(
        postedTo(sink).at(-1)?.length === 1 && postedTo(sink).length > before + 10,
        'an end is said for 15 minutes',
      );
      assert.equal((await bench.rows("select id from deliveries where kind = 'firing'")).length, 1);
    });

  test('what Alertmanager keeps from people stands with the alert, whatever the words are', async (t) => {
    let labels: unknown = {};
    let silencedBy = ['0f1e'];
    const comment = `storage \u001b[31mmove\u202e ${'x'.repeat(5_000)}`;
    const sink = await HttpSink.start({
      answer: ({ method, path }) => {
        if (method === 'POST') return {};
        if (path.startsWith('/am/api/v2/silence/'))
          return { body: JSON.stringify({ createdBy: 'ana', comment, endsAt: '2026-11-25T06:00:00.000Z' }) };
        return { body: JSON.stringify([{ labels, status: { state: 'suppressed', silencedBy, inhibitedBy: [] } }]) };
      },
    });
    t.after(() => sink.stop());
    const { bench, channel } = await begin(t, `${sink.url.replace(/\/$/, '')}/am/`);
    const say = await createRaising(bench, channel, cronJob('nightly'));
    await say(failedAt(bench.clock.now()));
    await bench.pass(2_000);
    labels = postedTo(sink).flat()[0]?.labels;
    await bench.pass(61_000);
    const [row] = await bench.rows('select id from alerts');
    const id = bench.store.dialect.id16Text(row?.['id']);
    const says = (await findAlert(bench.store, id))?.mutedThere[channel.name]?.says ?? '';
    assert.match(says, /^silenced in Alertmanager by ana until 2026-11-25 06:00 UTC: storage move x+…$/);
    assert.ok(says.length < 300);
    silencedBy = [];
    await bench.pass(61_000);
    assert.deepEqual((await findAlert(bench.store, id))?.mutedThere, {});
    const ledger = (await listDecisions(bench.store, id))
      .map(({ action }) => action)
      .filter((action) => action.includes('uted'));
    assert.deepEqual(ledger, ['mutedThere', 'unmutedThere']);
    assert.deepEqual(await bench.series('cronjob_monitor_alertmanager_peers'), [
      `{channel="${channel.name}",state="up"} 1`,
      `{channel="${channel.name}",state="down"} 0`,
    ]);
  });

  test('an alert that is refused keeps no other from arriving, and goes with nothing but what it is', async (t) => {
    const isRefused = (body: string): boolean => body.includes('"cronjob":"odd"') && body.includes('description');
    const sink = await HttpSink.start({
      answer: ({ method, body }) => (method === 'GET' ? { body: '[]' } : { status: isRefused(body) ? 400 : 200 }),
    });
    t.after(() => sink.stop());
    const { bench, channel } = await begin(t, sink.url);
    for (const name of ['nightly', 'odd'])
      await (
        await createRaising(bench, channel, cronJob(name))
      )(failedAt(bench.clock.now()));
    await bench.pass(70_000, 2_000);
    const taken = sink.arrivals.filter(({ answered, method }) => answered === 200 && method === 'POST');
    const last = new Map(
      taken.flatMap(({ body }) =>
        (JSON.parse(body) as PostedAlert[]).map((one) => [one.labels['cronjob'], one.annotations]),
      ),
    );
    assert.deepEqual([...last.keys()].sort(), ['nightly', 'odd']);
    assert.deepEqual(Object.keys(last.get('odd') ?? {}), ['summary']);
    assert.ok('description' in (last.get('nightly') ?? {}));
    const states = await bench.rows('select state from deliveries');
    assert.deepEqual(
      states.map(({ state }) => state),
      ['sent', 'sent'],
    );
  });

  test('an alert whose turn there comes later is not said before, and never once a person has acknowledged it', async (t) => {
    const sink = await HttpSink.start({ answer: ({ method }) => (method === 'GET' ? { body: '[]' } : {}) });
    t.after(() => sink.stop());
    const { bench, channel, sayAgain } = await begin(t, sink.url);
    bench.hasEvaluated = false; // nothing leaves before it has its turn
    for (const name of ['noted', 'waits'])
      await (
        await createRaising(bench, channel, cronJob(name))
      )(failedAt(bench.clock.now()));
    const nextAt = bench.time.now() + 5 * 60_000;
    await bench.store.sql('deliveries').update({ cause: 'after', state_reason: 'after', next_at: nextAt });
    bench.hasEvaluated = true;
    const [noted] = await bench.rows("select id from alerts where cronjob_name = 'noted'");
    const note = { byWhom: 'ana', at: bench.time.now(), note: undefined, expiresAt: undefined };
    await bench.store.transaction((tx) => putAcknowledgement(tx, bench.store.dialect.id16Text(noted?.['id']), note));
    sayAgain();
    await bench.pass(4 * 60_000, 20_000);
    assert.deepEqual(postedTo(sink).flat(), []);
    await bench.pass(5 * 60_000, 20_000);
    const told = postedTo(sink)
      .flat()
      .map(({ labels }) => labels['cronjob']);
    assert.ok(told.length > 2, 'from its turn on it is said again each minute');
    assert.deepEqual([...new Set(told)], ['waits']);
  });

  test('many alerts at once are one message for the limits', async (t) => {
    const sink = await HttpSink.start({ answer: ({ method }) => (method === 'GET' ? { body: '[]' } : {}) });
    t.after(() => sink.stop());
    const { bench, channel } = await begin(t, sink.url);
    channel.spec = { ...channel.spec, rateLimiting: { maxAlertsPerHour: 1, burstLimit: 1 } };
    for (let n = 0; n < 8; n++) await bench.tell(channel, { nextAt: bench.time.now() + 1_000 });
    await bench.pass(3_000);
    const states = await bench.rows('select state, charged_at from deliveries');
    assert.deepEqual(
      states.map(({ state }) => state),
      Array(8).fill('sent'),
    );
    assert.equal(states.filter(({ charged_at: at }) => at !== null).length, 1);
  });
});

describe('peers', () => {
  const attempt = async (urls: string, addresses: readonly string[]) => {
    const of = anAttempt(alertmanagerAt(urls));
    const deps = depsOf({ resolve: async () => addresses });
    return getChannel('webhook').send(of, deps, new AbortController().signal);
  };

  test('each address of a name is one: a message is sent when one has it, and says which have not', async (t) => {
    const sink = await HttpSink.start();
    t.after(() => sink.stop());
    const { port } = sink;
    const outcome = await attempt(`http://alertmanager:${port}`, ['127.0.0.1', '127.0.0.2']);
    assert.ok(outcome.kind === 'delivered' && !outcome.unfinished);
    assert.deepEqual(outcome.progress, {
      accepted: [`alertmanager:${port} 127.0.0.1`],
      refused: [`alertmanager:${port} 127.0.0.2`],
      owner: null,
    });
    assert.equal(sink.arrivals[0]?.path, '/api/v2/alerts');
  });

  test('none of them may be an address that is refused', async (t) => {
    const sink = await HttpSink.start();
    t.after(() => sink.stop());
    const outcome = await attempt(`http://alertmanager:${sink.port}`, ['127.0.0.1', '169.254.169.254']);
    assert.ok(outcome.kind === 'failed');
    assert.deepEqual([outcome.next, outcome.category, sink.arrivals.length], ['invalid', 'addressRefused', 0]);
  });

  test('when none takes it, it is tried again as long as one may', async (t) => {
    const refusing = await HttpSink.start({ answer: () => ({ status: 400 }) });
    const away = await HttpSink.start({ answer: () => ({ status: 503 }) });
    t.after(async () => Promise.all([refusing.stop(), away.stop()]));
    const both = await attempt(`${refusing.url} ${away.url}`, []);
    assert.ok(both.kind === 'failed' && both.next === 'retry');
    const one = await attempt(refusing.url, []);
    assert.ok(one.kind === 'failed' && one.next === 'reduce');
  });
});

/** What the receiver of a peer is posted, as far as it is looked at. */
interface Notification {
  readonly status: string;
  readonly groupLabels: { readonly cronjob: string };
  readonly externalURL: string;
}

const versions = [
  { version: '0.25', skip: whyNoAlertmanager() ?? false, programs: undefined },
  {
    version: '0.34',
    skip: 'skipped' in built && built.skipped,
    programs: 'skipped' in built ? undefined : built,
  },
];

for (const { version, skip, programs } of versions) {
  describe(`three real peers of version ${version}`, { skip }, () => {
    test('whichever is killed, whenever: no alert is lost or ends early, and each outage is one notification', async (t) => {
      const { sink, cluster } = await startCluster(t, programs);
      const { bench, channel, sayAgain } = await begin(t, cluster.peers.map(({ url }) => url).join('\n'), systemClock);
      const notifications = (name: string) =>
        sink.arrivals
          .map(({ body }) => JSON.parse(body) as Notification)
          .filter(({ groupLabels }) => groupLabels.cronjob === name);
      const notified = (name: string): string[] => notifications(name).map(({ status }) => status);
      /** One; but of a peer that is killed before it told the others that it notified, another one does so as well. */
      const notifiesOnce = (name: string, killed: { readonly url: string } | undefined): void => {
        const [first, ...others] = notifications(name);
        assert.equal(first?.status, 'firing');
        const isOfKilled = killed !== undefined && new URL(first.externalURL).port === new URL(killed.url).port;
        const more = others.map(({ status, externalURL }) => `${status} by ${externalURL}`);
        assert.ok(more.length <= (isOfKilled ? 1 : 0), `${name}: firing by ${first.externalURL}, ${more.join(', ')}`);
      };
      const until = async (is: () => boolean, what: string): Promise<void> => {
        const endsAt = performance.now() + 15_000;
        while (!is()) {
          assert.ok(
            performance.now() < endsAt,
            `${what}: ${JSON.stringify(sink.arrivals.map(({ body }) => body.slice(0, 300)))}`,
          );
          await wait(20);
        }
      };
      const killings = ['before it is told', 'while it is notified', 'before it ends'] as const;
      const ends: (() => Promise<void>)[] = [];
      for (const [index, when] of killings.entries()) {
        const name = `job-${index}`;
        const say = await createRaising(bench, channel, cronJob(name));
        const peer = cluster.peers[index];
        assert.ok(peer);
        if (when === 'before it is told') await peer.kill();
        await say(failedAt(bench.time.now()));
        if (when === 'while it is notified') {
          // A peer has it, and waits for the end of group_wait.
          while ((await bench.rows("select id from deliveries where state <> 'sent'")).length > 0) await wait(5);
          await peer.kill();
        }
        await until(() => notified(name).includes('firing'), `${name} is notified`);
        if (when === 'before it ends') {
          // Peers tell one another what they notified: one that is killed before that is notified for again, as Alertmanager has it.
          await wait(500);
          await peer.kill();
        }
        await peer.restart();
        sayAgain();
        // Longer than peers wait for one another: a second notification would come now, or an end.
        await wait(4_500);
        for (let told = 0; told <= index; told++)
          notifiesOnce(`job-${told}`, killings[told] === 'while it is notified' ? cluster.peers[told] : undefined);
        ends.push(() => say(over(bench.time.now())));
      }
      for (const end of ends) await end();
      for (const index of killings.keys())
        await until(() => notified(`job-${index}`).includes('resolved'), `the end of job-${index} is notified`);
      // Of an end that falls between two flushes of peers that do not keep time with one another Alertmanager itself may tell twice, the
      // second time with what one of them had not heard yet: the next flush says the end again.
      for (const index of killings.keys())
        await until(() => notified(`job-${index}`).at(-1) === 'resolved', `job-${index} stays ended`);
    });

    test('a silence of amtool is seen, by whom and until when, and its end too', async (t) => {
      const { cluster } = await startCluster(t, programs, 1);
      const [peer] = cluster.peers;
      assert.ok(peer);
      const { bench, channel, sayAgain } = await begin(t, peer.url, systemClock);
      await (
        await createRaising(bench, channel, cronJob('nightly'))
      )(failedAt(bench.time.now()));
      const seen = async (): Promise<string | undefined> => {
        sayAgain();
        await wait(100);
        const [row] = await bench.rows('select id from alerts');
        return (await findAlert(bench.store, bench.store.dialect.id16Text(row?.['id'])))?.mutedThere[channel.name]
          ?.says;
      };
      const until = async (is: (says: string | undefined) => boolean): Promise<void> => {
        const endsAt = performance.now() + 10_000;
        for (let says = await seen(); !is(says); says = await seen())
          assert.ok(performance.now() < endsAt, String(says));
      };
      await until((says) => says === undefined);
      const id = await cluster.amtool(
        peer,
        'silence',
        'add',
        '--author=ana',
        '--comment=storage move',
        '--duration=2h',
        'cronjob=nightly',
      );
      await until((says) =>
        /^silenced in Alertmanager by ana until 20\d\d-\d\d-\d\d \d\d:\d\d UTC: storage move$/.test(says ?? ''),
      );
      await cluster.amtool(peer, 'silence', 'expire', id);
      await until((says) => says === undefined);
    });
  });
}

async function startCluster(
  t: TestContext,
  programs: AlertmanagerPrograms | undefined,
  count = 3,
): Promise<{ readonly sink: HttpSink; readonly cluster: AlertmanagerCluster }> {
  const sink = await HttpSink.start();
  const cluster = await startAlertmanagers(count, sink.url, programs);
  t.after(async () => {
    await cluster.remove();
    await sink.stop();
  });
  return { sink, cluster };
}
