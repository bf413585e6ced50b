import assert from 'node:assert/strict';
import {
  acknowledgeDrill,
  claimDeliveries,
  closeDrill,
  FencedError,
  findChannelFigures,
  findDelivery,
  findProof,
  listDrills,
  listLastDrills,
  moveDrills,
  settleDelivery,
  startDrill,
  tellUnproved,
  updateRedriven,
  type Settlement,
  type Store,
  type StoredDrill,
} from '@cronjob-monitor/shared/store';
import { aChannel, aClaim, type TestChannel } from '../alert-facts.ts';
import { prune } from '../aging-facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const words = { clusterName: 'eu-1', externalUrl: 'https://monitor.example.org/' };
const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const refused: Settlement = {
  kind: 'failed',
  next: 'dead',
  error: { category: 'rejected', message: 'It answered 400', httpStatus: 400 },
  maybeSent: false,
};

async function started(store: Store, epoch: number, channel: TestChannel, dueAt = store.now()): Promise<StoredDrill> {
  const drill = await store.fenced(epoch, (tx) => startDrill(tx, { channel, dueAt, ackWithinMs: hourMs }, words));
  assert.ok(drill);
  return drill;
}

/** The key in the link of its message, as a person who reads the channel has it. */
async function keyOf(store: Store, { deliveryId }: StoredDrill): Promise<string> {
  const [row] = await readRows(store, 'select payload from deliveries where id = ?', [store.dialect.id16(deliveryId)]);
  const key = /\?key=([0-9a-f]{32})/.exec(String(row?.['payload']))?.[1];
  assert.ok(key !== undefined, String(row?.['payload']));
  return key;
}

async function settled(store: Store, epoch: number, channel: TestChannel, settlement: Settlement): Promise<void> {
  await store.fenced(epoch, async (tx) => {
    const claimed = await claimDeliveries(tx, aClaim({ roomOn: (uid) => (uid === channel.uid ? 64 : 0) }));
    assert.equal(claimed.length, 1);
    for (const { id: deliveryId } of claimed)
      await settleDelivery(tx, { deliveryId, claimedBy: 'pod/boot-1', settlement });
  });
}

/** Of the drills of this channel. */
const moved = async (store: Store, epoch: number, channel: TestChannel): Promise<string[]> => {
  const ended = await store.fenced(epoch, (tx) => moveDrills(tx));
  return ended.flatMap(({ drill }) => (drill.channelUid === channel.uid ? [drill.outcome] : []));
};

const acknowledged = (store: Store, { id }: StoredDrill, key: string, by?: string): Promise<string> =>
  store.transaction(async (tx) => (await acknowledgeDrill(tx, { id, key, by })).kind);

export const drills = contract('drills', (test) => {
  test('a slot is drilled once, whichever leader asks for it, and by none that is fenced', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const dueAt = store.now();
    await started(store, epoch, channel, dueAt);
    const again = await store.fenced(epoch, (tx) => startDrill(tx, { channel, dueAt, ackWithinMs: hourMs }, words));
    assert.equal(again, undefined);
    const { drills: all } = await listDrills(store, channel.uid, { limit: 10, offset: 0 });
    assert.equal(all.length, 1);
    assert.equal(
      (
        await readRows(store, 'select id from deliveries where kind = ? and channel_uid = ?', [
          'drill',
          store.dialect.id16(channel.uid),
        ])
      ).length,
      1,
    );
    assert.equal((await listLastDrills(store)).get(channel.uid), dueAt);
    await assert.rejects(
      store.fenced(epoch - 1, (tx) => startDrill(tx, { channel, dueAt: dueAt + 1, ackWithinMs: hourMs }, words)),
      FencedError,
    );
  });

  test('who presses the link proves the channel, and twice is one proof', async ({ store, epoch, clock }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    const key = await keyOf(store, drill);
    await settled(store, epoch, channel, delivered);
    assert.deepEqual(await moved(store, epoch, channel), []);
    clock.offsetMs += minuteMs;
    const before = store.now();
    assert.equal(await acknowledged(store, drill, key, 'ana'), 'proved');
    const after = store.now();
    clock.offsetMs += minuteMs;
    assert.equal(await acknowledged(store, drill, key, 'ben'), 'proved');
    assert.deepEqual(await moved(store, epoch, channel), ['proved']);
    assert.deepEqual(await moved(store, epoch, channel), [], 'what follows from its end follows once');
    const { provedAt = 0, provedBy, missed } = (await findProof(store, channel.uid)) ?? {};
    assert.ok(provedAt >= before && provedAt <= after);
    assert.deepEqual([provedBy, missed], ['ana', undefined]);
  });

  test('a wrong key and an unknown drill are answered alike, and prove nothing', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    const key = await keyOf(store, drill);
    assert.equal(await acknowledged(store, drill, key.replaceAll(/./g, '0')), 'unknown');
    assert.equal(await acknowledged(store, drill, ''), 'unknown');
    assert.equal(await acknowledged(store, { ...drill, id: drill.deliveryId }, key), 'unknown');
    const [row] = await readRows(store, 'select key_hash, outcome from drills where id = ?', [
      store.dialect.id16(drill.id),
    ]);
    assert.equal(row?.['outcome'], 'waiting');
    assert.ok(!String(row?.['key_hash']).includes(key), 'the table holds no key');
  });

  test('the time begins when the receiver accepts it; after it the link is over and the channel is not proved', async ({
    store,
    epoch,
    clock,
  }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    const key = await keyOf(store, drill);
    clock.offsetMs += 30 * minuteMs;
    await settled(store, epoch, channel, delivered);
    clock.offsetMs += hourMs - minuteMs;
    assert.deepEqual(await moved(store, epoch, channel), []);
    clock.offsetMs += minuteMs;
    assert.equal(await acknowledged(store, drill, key), 'over', 'also before the leader has looked');
    assert.deepEqual(await moved(store, epoch, channel), ['reached']);
    assert.equal(await acknowledged(store, drill, key), 'over');
    assert.deepEqual((await findProof(store, channel.uid))?.missed, { outcome: 'reached', dueAt: drill.dueAt });
    assert.equal((await findProof(store, channel.uid))?.provedAt, undefined);
  });

  test('what no receiver takes has failed, and a later proof makes up for it', async ({ store, epoch, clock }) => {
    const channel = await aChannel(store, epoch);
    const failed = await started(store, epoch, channel);
    await settled(store, epoch, channel, refused);
    assert.deepEqual(await moved(store, epoch, channel), ['failed']);
    assert.deepEqual((await findProof(store, channel.uid))?.missed, { outcome: 'failed', dueAt: failed.dueAt });
    clock.offsetMs += minuteMs;
    const second = await started(store, epoch, channel);
    await settled(store, epoch, channel, delivered);
    assert.equal(await acknowledged(store, second, await keyOf(store, second)), 'proved');
    await moved(store, epoch, channel);
    assert.equal((await findProof(store, channel.uid))?.missed, undefined);
  });

  test('acknowledged while its message is being sent: it ends once the answer is written, and proves the channel', async ({
    store,
    epoch,
  }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    const only = aClaim({ roomOn: (uid) => (uid === channel.uid ? 64 : 0) });
    await store.fenced(epoch, (tx) => claimDeliveries(tx, only));
    assert.equal(await acknowledged(store, drill, await keyOf(store, drill), 'ana'), 'proved');
    assert.deepEqual(await moved(store, epoch, channel), [], 'it may be sent at this moment');
    const settlement = { deliveryId: drill.deliveryId, claimedBy: 'pod/boot-1', settlement: delivered };
    await store.fenced(epoch, (tx) => settleDelivery(tx, settlement));
    const [ended] = await store.fenced(epoch, (tx) => moveDrills(tx));
    assert.deepEqual([ended?.drill.outcome, ended?.mayBeOpen], ['proved', true]);
    assert.ok(ended?.drill.sentAt !== undefined, 'when it was accepted is known');
    assert.equal((await findProof(store, channel.uid))?.provedBy, 'ana');
  });

  test('acknowledged while its message waits to be tried again: it is taken back', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    await settled(store, epoch, channel, { ...refused, next: 'retry', nextAt: store.now(), maybeSent: true });
    assert.equal(await acknowledged(store, drill, await keyOf(store, drill), 'ana'), 'proved');
    const [ended] = await store.fenced(epoch, (tx) => moveDrills(tx));
    assert.deepEqual([ended?.drill.outcome, ended?.mayBeOpen], ['proved', true]);
    assert.equal((await findDelivery(store, drill.deliveryId))?.state, 'cancelled');
    const said = await readRows(
      store,
      "select reason from alert_decisions where delivery_id = ? and action = 'cancelled'",
      [store.dialect.id16(drill.deliveryId)],
    );
    assert.deepEqual(said, [{ reason: 'acknowledged' }]);
    assert.equal((await findProof(store, channel.uid))?.provedBy, 'ana');
  });

  for (const maybeSent of [false, true])
    test(`a receiver ${maybeSent ? 'that did not answer may have it' : 'that refused it has nothing'} open`, async ({
      store,
      epoch,
    }) => {
      const channel = await aChannel(store, epoch);
      await started(store, epoch, channel);
      await settled(store, epoch, channel, { ...refused, maybeSent });
      const [ended] = await store.fenced(epoch, (tx) => moveDrills(tx));
      assert.deepEqual([ended?.drill.outcome, ended?.mayBeOpen], ['failed', maybeSent]);
    });

  test('the message of a drill that is over is not sent again, what was told of its end is', async ({
    store,
    epoch,
  }) => {
    const channel = await aChannel(store, epoch);
    const fallback = await aChannel(store, epoch);
    const { deliveryId } = await started(store, epoch, channel);
    const again = (id: string) => store.transaction((tx) => updateRedriven(tx, id, 'ana'));
    await settled(store, epoch, channel, refused);
    assert.equal(await again(deliveryId), true, 'as long as it waits');
    await settled(store, epoch, channel, refused);
    const [ended] = await store.fenced(epoch, (tx) => moveDrills(tx));
    assert.ok(ended);
    assert.equal(await again(deliveryId), false, 'its link would be over');
    await store.fenced(epoch, (tx) =>
      tellUnproved(tx, ended, { channel, fallback, provedAt: undefined, periodAt: 0 }, words),
    );
    await settled(store, epoch, fallback, refused);
    const [told] = await readRows(store, 'select id from deliveries where channel_uid = ?', [
      store.dialect.id16(fallback.uid),
    ]);
    assert.equal(await again(store.dialect.id16Text(told?.['id'])), true);
  });

  test('a drill takes a token and is in no total of its channel', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    await settled(store, epoch, channel, delivered);
    const { sentTotal, failedTotal, lastSentAt, lastTestAt } = (await findChannelFigures(store, channel.uid)) ?? {};
    assert.deepEqual([sentTotal, failedTotal, lastSentAt, lastTestAt], [0, 0, undefined, undefined]);
    const [row] = await readRows(store, 'select charged_at, priority from deliveries where id = ?', [
      store.dialect.id16(drill.deliveryId),
    ]);
    assert.ok(row?.['charged_at'] !== null);
    assert.equal(Number(row?.['priority']), 0);
    await moved(store, epoch, channel);
  });

  test('what is told of an end is told once', async ({ store, epoch, clock }) => {
    const channel = await aChannel(store, epoch);
    const fallback = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    await settled(store, epoch, channel, delivered);
    clock.offsetMs += hourMs;
    const next = (await store.fenced(epoch, (tx) => moveDrills(tx))).filter((one) => one.drill.id === drill.id);
    assert.equal(next.length, 1);
    for (const ended of [...next, ...next]) {
      await store.fenced(epoch, async (tx) => {
        await closeDrill(tx, ended.drill, channel, words);
        await tellUnproved(tx, ended, { channel, fallback, provedAt: Date.UTC(2026, 10, 16, 9), periodAt: 0 }, words);
      });
    }
    const told = await readRows(
      store,
      "select channel_uid, severity, payload from deliveries where kind = 'drill' and seq = 2 or channel_uid = ?",
      [store.dialect.id16(fallback.uid)],
    );
    const texts = told.map(({ payload }) => String(payload)).filter((payload) => payload.includes(drill.id));
    assert.equal(texts.length, 2);
    assert.ok(texts.some((text) => text.includes(`NOT PROVED: ${channel.name} has not been proved since 2026-11-16`)));
  });

  test('drills are kept for their time, and one that waits for as long as it waits', async (bench) => {
    const { store, epoch, clock } = bench;
    const channel = await aChannel(store, epoch);
    await started(store, epoch, channel);
    await settled(store, epoch, channel, refused);
    await moved(store, epoch, channel);
    clock.offsetMs += minuteMs;
    const waiting = await started(store, epoch, channel);
    clock.offsetMs += minuteMs;
    const { counts } = await prune(bench, { drillsBefore: store.now() });
    assert.ok(counts.drills >= 1);
    const { drills: left } = await listDrills(store, channel.uid, { limit: 10, offset: 0 });
    assert.deepEqual(
      left.map(({ id }) => id),
      [waiting.id],
    );
  });

  test('a press and the end of its time in one moment have one outcome', async ({ store, epoch, clock, open }) => {
    const channel = await aChannel(store, epoch);
    const drill = await started(store, epoch, channel);
    const key = await keyOf(store, drill);
    await settled(store, epoch, channel, delivered);
    clock.offsetMs += hourMs - minuteMs;
    const other = open();
    const [, pressed] = await Promise.all([moved(store, epoch, channel), acknowledged(other, drill, key)]);
    clock.offsetMs += hourMs;
    await moved(store, epoch, channel);
    const { drills: all } = await listDrills(store, channel.uid, { limit: 1, offset: 0 });
    assert.equal(all[0]?.outcome, pressed === 'proved' ? 'proved' : 'reached');
  });
});
