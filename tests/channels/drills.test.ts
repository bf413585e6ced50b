import assert from 'node:assert/strict';
import { describe, test, type TestContext } from 'node:test';
import { Drills, type Dispatcher } from '@cronjob-monitor/controller/outbox';
import type { DrillSpec } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  acknowledgeDrill,
  findProof,
  listDrills,
  startDrill,
  type Store,
  type StoredDrill,
} from '@cronjob-monitor/shared/store';
import { until } from '@cronjob-monitor/shared/testing';
import { startAlertmanagers, whyNoAlertmanager } from '../servers/index.ts';
import { HttpSink, incidentsOf, parseMail } from '../sinks/index.ts';
import { OutboxBench, type BenchChannel } from './outbox-bench.ts';
import { alertmanagerAt } from './receivers.ts';

const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const externalUrl = 'https://monitor.example.org';
const linkOf = /https:\/\/monitor\.example\.org\/drills\/([0-9a-f-]{36})\?key=([0-9a-f]{32})/;

interface Rig {
  readonly bench: OutboxBench;
  /** Channels with their drills, as a controller sees them. */
  readonly has: (channel: BenchChannel, drill?: Partial<DrillSpec>) => void;
  /** What the process does that leads. */
  readonly lead: (store?: Store) => Drills;
  readonly drillsOf: (channel: BenchChannel) => Promise<readonly StoredDrill[]>;
  /** Time passes, with a look each minute. */
  readonly pass: (drills: Drills, ms: number, stepMs?: number) => Promise<void>;
  readonly press: (link: string, by?: string) => Promise<string>;
  readonly dispatcher: Dispatcher;
}

/** A real outbox, dispatcher and receivers, and a leader that drills. */
async function aRig(t: TestContext, time?: typeof systemClock): Promise<Rig> {
  const bench = await OutboxBench.start(t, time && { time });
  const { dispatcher } = bench.start();
  const createdAt = bench.time.now();
  const seen = new Map<string, Parameters<Rig['has']>>();
  const toSeen = ([channel, drill]: Parameters<Rig['has']>) => ({
    uid: channel.uid,
    namespace: '',
    name: channel.name,
    generation: 1,
    resourceVersion: '1',
    createdAt,
    decoded: {
      type: channel.type,
      spec: {
        ...channel.spec,
        drill: drill && {
          schedule: '0 9 * * 1',
          timezone: 'UTC',
          ackWithin: '1h',
          fallbackChannel: undefined,
          ...drill,
        },
      },
      problems: [],
    },
    status: undefined,
  });
  return {
    bench,
    dispatcher,
    has: (channel, drill) => seen.set(channel.uid, [channel, drill]),
    lead: (store = bench.store) =>
      new Drills({
        store,
        epoch: bench.epoch,
        channels: {
          values: () => [...seen.values()].map(toSeen),
          find: (uid) => {
            const found = seen.get(uid);
            return found && toSeen(found);
          },
        },
        words: { clusterName: 'prod-eu', externalUrl },
        onTold: () => dispatcher.wake(),
        onChannelChanged: (uid) => bench.changed.push(uid),
        database: { isAway: () => false, whenBack: async () => {} },
        onFenced: () => bench.fenced++,
        clock: bench.time,
        logger: bench.logger,
      }),
    drillsOf: async (channel) => (await listDrills(bench.store, channel.uid, { limit: 100, offset: 0 })).drills,
    pass: async (drills, ms, stepMs = 3 * hourMs) => {
      for (let left = ms; left > 0; left -= stepMs) {
        bench.clock.stepWall(Math.min(stepMs, left));
        await drills.look();
        await bench.pass(2_000);
      }
      await drills.look();
      await bench.pass(2_000);
    },
    press: async (link, by) => {
      const [, id = '', key = ''] = linkOf.exec(link) ?? [];
      return (await bench.store.transaction((tx) => acknowledgeDrill(tx, { id, key, by }))).kind;
    },
  };
}

const textOf = (mail: string | undefined): string => {
  assert.ok(mail !== undefined);
  const parsed = parseMail(mail);
  return `${parsed.header('subject') ?? ''}\n${parsed.text}`;
};

test('mail that is accepted and dropped is found within one period, and the fallback channel hears of it once a period', async (t) => {
  const { bench, has, lead, pass, drillsOf } = await aRig(t);
  // The receiver takes every mail, and no person ever sees one.
  const mail = await bench.addChannel('email');
  const fallback = await bench.addChannel('webhook');
  has(mail, { fallbackChannel: fallback.name });
  has(fallback);
  const drills = lead();
  await drills.look();
  await pass(drills, 8 * dayMs);
  assert.equal(mail.arrivals(), 1);
  assert.match(
    textOf(mail.wire()[0]),
    /DRILL: press the link if you read this[^]*\/drills\/[0-9a-f-]{36}\?key=[0-9a-f]{32}/,
  );
  const [first] = await drillsOf(mail);
  assert.equal(first?.outcome, 'reached');
  const told = () =>
    fallback.wire().map((body) => JSON.parse(body) as { type: string; data: { title: string; message: string } });
  assert.equal(told().length, 1);
  assert.equal(told()[0]?.type, 'channel.unproved');
  assert.equal(told()[0]?.data.title, `NOT PROVED: ${mail.name} has never been proved`);
  assert.match(told()[0]?.data.message ?? '', /its link was not pressed within 1 h/);
  await pass(drills, 7 * dayMs);
  assert.deepEqual([mail.arrivals(), fallback.arrivals()], [2, 2], 'once more a week later');
  assert.ok(bench.changed.includes(mail.uid), 'its condition is written');
});

test('a drill by hand that proves nothing is told to the fallback channel too, once a period', async (t) => {
  const { bench, has, lead, pass, press } = await aRig(t);
  const chat = await bench.addChannel('chat');
  const fallback = await bench.addChannel('webhook');
  has(chat, { fallbackChannel: fallback.name });
  has(fallback);
  const drills = lead();
  await drills.look();
  const byHand = async () => {
    const asked = { channel: chat, dueAt: bench.time.now(), ackWithinMs: hourMs, askedBy: 'ana' };
    await bench.store.transaction((tx) => startDrill(tx, asked, { clusterName: undefined, externalUrl }));
    await bench.pass(2_000);
    await pass(drills, 3 * hourMs, hourMs);
  };
  await pass(drills, 8 * dayMs);
  assert.deepEqual([chat.arrivals(), fallback.arrivals()], [1, 1]);
  await byHand();
  assert.deepEqual([chat.arrivals(), fallback.arrivals()], [2, 1], 'it was told of this period');
  for (let at = 0; chat.arrivals() === 2 && at < 200; at++) await pass(drills, hourMs, hourMs);
  assert.equal(await press(chat.wire().at(-1) ?? ''), 'proved');
  await byHand();
  await byHand();
  assert.deepEqual([chat.arrivals(), fallback.arrivals()], [5, 2]);
  assert.match(fallback.wire().at(-1) ?? '', /channel\.unproved[^]*its link was not pressed within 1 h/);
});

test('who presses the link of a chat message proves the channel, and the fallback hears nothing', async (t) => {
  const { bench, has, lead, pass, press, drillsOf } = await aRig(t);
  const chat = await bench.addChannel('chat');
  const fallback = await bench.addChannel('webhook');
  has(chat, { schedule: '0 9 * * *', fallbackChannel: fallback.name });
  has(fallback);
  const drills = lead();
  await drills.look();
  for (let at = 0; chat.arrivals() === 0 && at < 30; at++) await pass(drills, hourMs);
  const link = chat.wire()[0] ?? '';
  assert.equal(await press(link, 'ana'), 'proved');
  assert.equal(await press(link, 'ben'), 'proved');
  await pass(drills, 2 * hourMs);
  const proof = await findProof(bench.store, chat.uid);
  assert.deepEqual([proof?.provedBy, proof?.missed], ['ana', undefined]);
  assert.deepEqual(
    (await drillsOf(chat)).map(({ outcome, ackedBy }) => [outcome, ackedBy]),
    [['proved', 'ana']],
  );
  assert.equal(fallback.arrivals(), 0);
});

test('a leader that is killed between the slot and the send: the next one drills once', async (t) => {
  const { bench, has, lead, pass, drillsOf } = await aRig(t);
  const hook = await bench.addChannel('webhook');
  has(hook, { schedule: '0 9 * * *' });
  const first = lead();
  await first.look();
  await pass(first, 2 * dayMs);
  const before = (await drillsOf(hook)).length;
  // What it did is what stands in the database: a slot goes by without a leader, and three look at it after.
  bench.clock.stepWall(dayMs);
  for (const next of [lead(), lead(), lead()]) await next.look();
  await bench.pass(2_000);
  assert.equal((await drillsOf(hook)).length, before + 1);
  assert.equal(hook.arrivals(), before + 1);
});

test('drills that were due while none led are made up for, also by a leader whose first look met a database that was away', async (t) => {
  const { bench, has, lead, drillsOf } = await aRig(t);
  const hooks = [await bench.addChannel('webhook'), await bench.addChannel('webhook')];
  for (const hook of hooks) has(hook, { schedule: '0 9 * * *' });
  const due = Date.parse(`${new Date(bench.time.now() + dayMs).toISOString().slice(0, 10)}T09:10:00Z`);
  bench.clock.stepWall(due - bench.time.now());
  const { store } = bench;
  let isAway = true;
  const drills = lead({
    ...store,
    fenced: async (epoch, work) => {
      if (isAway) throw new Error('the database is away');
      return store.fenced(epoch, work);
    },
  });
  await assert.rejects(drills.look());
  isAway = false;
  await drills.look();
  for (const hook of hooks) assert.equal((await drillsOf(hook)).length, 1, hook.name);
});

test('drills move no series but those of drills and tests', async (t) => {
  const { bench, has, lead, pass, press } = await aRig(t);
  const [hook, silent, broken] = [
    await bench.addChannel('webhook'),
    await bench.addChannel('webhook'),
    await bench.addChannel('webhook'),
  ];
  await bench.tell(hook);
  await bench.pass(30_000);
  const drills = lead();
  await drills.look();
  const linesOf = async (): Promise<ReadonlySet<string>> => {
    const names = /^cronjob_monitor_(alerts|deliver|notification|channel|alertmanager)[^#]*$/;
    return new Set((await bench.registry.metrics()).split('\n').filter((line) => names.test(line)));
  };
  const before = await linesOf();
  broken.http?.answerAlways({ status: 400 });
  for (const channel of [hook, silent, broken]) has(channel, { schedule: '0 9 * * *' });
  for (let at = 0; hook.arrivals() < 2 && at < 30; at++) await pass(drills, hourMs);
  assert.equal(await press(hook.wire().at(-1) ?? '', 'ana'), 'proved');
  await pass(drills, 3 * hourMs);
  const moved = [...(await linesOf())].filter((line) => !before.has(line));
  // Attempts that failed in a row say of a channel whether it takes anything, drills and tests among it.
  const own =
    /_channel_consecutive_failures|kind="drill"|type="Test"|_channel_proved_timestamp_seconds|_channel_not_proved|_delivery_send_seconds/;
  assert.deepEqual(
    moved.filter((line) => !own.test(line)),
    [],
  );
  assert.ok(moved.some((line) => line.includes('result="dead"')));
});

test('a new schedule asks for nothing of before it was written', async (t) => {
  const { bench, has, lead, pass, drillsOf } = await aRig(t);
  const hook = await bench.addChannel('webhook');
  has(hook);
  const drills = lead();
  await drills.look();
  await pass(drills, dayMs);
  const hour = new Date(bench.time.now()).getUTCHours();
  has(hook, { schedule: `0 ${hour} * * *` });
  await drills.look();
  assert.deepEqual(await drillsOf(hook), []);
  await pass(drills, dayMs);
  assert.equal((await drillsOf(hook)).length, 1);
});

test('a channel that refuses is not delivered to, and the fallback says with what', async (t) => {
  const { bench, has, lead, pass, drillsOf } = await aRig(t);
  const hook = await bench.addChannel('webhook');
  const fallback = await bench.addChannel('webhook');
  has(hook, { schedule: '0 9 * * *', fallbackChannel: fallback.name });
  has(fallback);
  hook.http?.answerAlways({ status: 500 });
  const drills = lead();
  await drills.look();
  await pass(drills, 1.5 * dayMs, 20 * minuteMs);
  assert.equal((await drillsOf(hook)).at(-1)?.outcome, 'failed');
  assert.match(fallback.wire()[0] ?? '', /could not be delivered: /);
});

test('a paging service keeps the drill open until it is acknowledged', async (t) => {
  const { bench, has, lead, pass, press } = await aRig(t);
  const pager = await bench.addChannel('paging');
  has(pager, { schedule: '0 9 * * *' });
  const drills = lead();
  await drills.look();
  for (let at = 0; pager.arrivals() === 0 && at < 30; at++) await pass(drills, hourMs);
  const open = () => incidentsOf(pager.http?.arrivals ?? []).map(({ isOpen }) => isOpen);
  assert.deepEqual(open(), [true]);
  assert.match(pager.wire()[0] ?? '', /"severity":"info"/);
  assert.equal(await press(pager.wire()[0] ?? ''), 'proved');
  await pass(drills, minuteMs, minuteMs);
  assert.deepEqual(open(), [false]);
});

describe('a real Alertmanager', { skip: whyNoAlertmanager() ?? false }, () => {
  test('takes the drill as an alert, notifies with the link, and ends it when it is acknowledged', async (t) => {
    const sink = await HttpSink.start();
    const cluster = await startAlertmanagers(1, sink.url);
    t.after(async () => {
      await cluster.remove();
      await sink.stop();
    });
    const [peer] = cluster.peers;
    assert.ok(peer);
    const { bench, has, lead, press, dispatcher } = await aRig(t, systemClock);
    const at = alertmanagerAt(peer.url);
    const receiver = { ...at, type: 'webhook' as const, arrivals: () => 0, wire: () => [], stop: async () => {} };
    const channel = await bench.addChannel('webhook', { receiver });
    has(channel);
    const drills = lead();
    const asked = { channel, dueAt: bench.time.now(), ackWithinMs: hourMs, askedBy: 'ana' };
    await bench.store.transaction((tx) => startDrill(tx, asked, { clusterName: undefined, externalUrl }));
    dispatcher.wake();
    const notified = (): string[] => sink.arrivals.map(({ body }) => body);
    await until(() => notified().length > 0, 20_000);
    assert.match(notified()[0] ?? '', /"status":"firing"[^]*"alertname":"ChannelDrill"[^]*"severity":"info"/);
    assert.equal(await press(notified()[0] ?? '', 'ana'), 'proved');
    await drills.look();
    await until(() => notified().some((body) => body.includes('"status":"resolved"')), 20_000);
  });
});
