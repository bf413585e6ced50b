import assert from 'node:assert/strict';
import {
  claimDeliveries,
  FencedError,
  findChannelFigures,
  insertAlerts,
  isStreamShared,
  findStreamEnd,
  findTwin,
  listDecisions,
  listDeliveriesOfAlert,
  listLiveAlerts,
  newId,
  settleDelivery,
  takeEpoch,
  takeProbes,
  updateCancelled,
  updateCancelledOfChannel,
  updateRedriven,
  type NewDelivery,
  type Settled,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aChannel, aClaim, anAlert, inserted, type TestChannel } from '../alert-facts.ts';
import { projected } from '../facts.ts';
import { readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { hourMs, minuteMs } from '@cronjob-monitor/shared/domain';

const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const failed = (next: 'retry' | 'reduce' | 'park' | 'invalid' | 'dead', nextAt?: number): Settlement => ({
  kind: 'failed',
  next,
  nextAt,
  error: { category: 'serverError', message: 'It answered 503', httpStatus: 503 },
  maybeSent: false,
});

/** Claims this one message, whatever else is there, and settles it. */
async function settled(
  store: Store,
  epoch: number,
  delivery: NewDelivery,
  settlement: Settlement,
): Promise<Settled | undefined> {
  return store.fenced(epoch, async (tx) => {
    await claimDeliveries(tx, aClaim({ roomOn: (uid) => (uid === delivery.channel.uid ? 64 : 0) }));
    return settleDelivery(tx, { deliveryId: delivery.id, claimedBy: 'pod/boot-1', settlement });
  });
}

async function rowOf(store: Store, { id }: { readonly id: string }): Promise<Record<string, unknown>> {
  const columns = 'state, state_reason, next_at, attempts, maybe_sent, reduced, http_status, last_error, merged_into';
  const [row] = await readRows(store, `select ${columns} from deliveries where id = ?`, [store.dialect.id16(id)]);
  const { last_error: error, ...rest } = row ?? {};
  return { ...rest, error: typeof error === 'string' ? JSON.parse(error) : null };
}

const holdOf = async (store: Store, { uid }: TestChannel): Promise<unknown> =>
  (await readRows(store, 'select hold from channels where uid = ?', [store.dialect.id16(uid)]))[0]?.['hold'];

export const settling = contract('settling', (test) => {
  test('any, dispatch to a channel, delivery succeeds: the alert is unchanged, and told', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const alert = anAlert(cronJob.id, store.now());
    await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
    const delivery = await inserted(store, epoch, channel, { alertId: alert.id });
    const answer = await settled(store, epoch, delivery, delivered);
    assert.deepEqual(answer?.alert, {
      id: alert.id,
      type: 'jobFailed',
      severity: 'warning',
      namespace: alert.namespace,
      cronJobName: alert.cronJobName,
    });
    const [after] = await listLiveAlerts(store, [cronJob.id]);
    assert.ok(after?.lastNotifiedAt !== undefined && after.lastNotifiedAt >= delivery.createdAt);
    assert.deepEqual({ ...after, lastNotifiedAt: undefined }, alert);
    const figures = await findChannelFigures(store, channel.uid);
    assert.deepEqual([figures?.sentTotal, figures?.failedTotal, figures?.failuresInRow], [1, 0, 0]);
    assert.deepEqual(
      (await listDecisions(store, alert.id)).map(({ action, reason, deliveryId }) => [action, reason, deliveryId]),
      [['sent', '200', delivery.id]],
    );
    assert.deepEqual((await rowOf(store, delivery))['state'], 'sent');
  });

  test('any, dispatch to a channel, delivery fails: the alert is unchanged, the failures in a row increase', async ({
    store,
    epoch,
  }) => {
    const cronJob = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const alert = anAlert(cronJob.id, store.now());
    await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
    const delivery = await inserted(store, epoch, channel, { alertId: alert.id });
    const nextAt = store.now() + hourMs;
    assert.equal((await settled(store, epoch, delivery, failed('retry', nextAt)))?.channel.failuresInRow, 1);
    assert.deepEqual(await listLiveAlerts(store, [cronJob.id]), [alert]);
    const row = await rowOf(store, delivery);
    const { at, ...error } = row['error'] as { at: number };
    assert.deepEqual(error, { category: 'serverError', message: 'It answered 503', httpStatus: 503 });
    assert.equal(typeof at, 'number');
    assert.deepEqual(
      [row['state'], row['state_reason'], Number(row['next_at']), row['attempts'], row['http_status']],
      ['ready', 'backoff', nextAt, 1, 503],
    );
    const figures = await findChannelFigures(store, channel.uid);
    assert.deepEqual([figures?.failedTotal, figures?.failuresInRow, figures?.lastError], [1, 1, 'It answered 503']);
    assert.deepEqual(
      (await listDecisions(store, alert.id)).map(({ action, reason, detail }) => [action, reason, detail]),
      [['attemptFailed', 'serverError', '503: It answered 503']],
    );
  });

  test('a settlement under a lost claim or another epoch changes nothing', async ({ store, epoch, clock }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    clock.offsetMs += 31_000;
    await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim({ claimedBy: 'other/boot' })));
    const settle = (by: string) =>
      store.fenced(epoch, (tx) =>
        settleDelivery(tx, { deliveryId: delivery.id, claimedBy: by, settlement: delivered }),
      );
    assert.equal(await settle('pod/boot-1'), undefined);
    assert.deepEqual((await rowOf(store, delivery))['state'], 'claimed');
    assert.equal((await findChannelFigures(store, channel.uid))?.sentTotal, 0);
    assert.equal((await settle('other/boot'))?.channel.hold, undefined);
    assert.equal(await settle('other/boot'), undefined, 'once');
  });

  test('a test counts among the failures in a row and in no total', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const probe = await inserted(store, epoch, channel, { kind: 'test', severity: 'info' });
    await settled(store, epoch, probe, failed('dead'));
    const figures = await findChannelFigures(store, channel.uid);
    assert.deepEqual(
      [figures?.failedTotal, figures?.sentTotal, figures?.failuresInRow, figures?.lastFailedAt],
      [0, 0, 1, undefined],
    );
    assert.deepEqual(figures?.lastTest, { success: false, message: 'It answered 503', generation: 1 });
  });

  test('a test is tried once, whatever its receiver asks for, and says of the channel what any message would', async ({
    store,
    epoch,
  }) => {
    for (const [next, hold] of [
      ['retry', null],
      ['reduce', null],
      ['park', 'parked'],
      ['invalid', 'invalid'],
    ] as const) {
      const channel = await aChannel(store, epoch);
      const probe = await inserted(store, epoch, channel, { kind: 'test', severity: 'info' });
      assert.equal((await settled(store, epoch, probe, failed(next, store.now())))?.state, 'dead', next);
      assert.equal(await holdOf(store, channel), hold);
    }
  });

  test('what a smaller message may cure is tried at once in the reduced form', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await settled(store, epoch, delivery, failed('reduce'));
    const row = await rowOf(store, delivery);
    assert.deepEqual([row['state'], row['reduced'], row['state_reason']], ['ready', 1, null]);
    const [again] = await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    assert.deepEqual([again?.id, again?.reduced, again?.attempts], [delivery.id, true, 2]);
  });

  test('put back unsent spends no attempt and blames no channel', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await settled(store, epoch, delivery, { kind: 'putBack', nextAt: store.now() + hourMs, reason: 'order' });
    const row = await rowOf(store, delivery);
    assert.deepEqual([row['state'], row['state_reason'], row['attempts']], ['ready', 'order', 0]);
    assert.equal((await findChannelFigures(store, channel.uid))?.failuresInRow, 0);
  });

  test('a channel to be mended parks all its messages, probes the oldest, and a success frees them', async ({
    store,
    epoch,
    clock,
  }) => {
    const channel = await aChannel(store, epoch);
    const first = await inserted(store, epoch, channel);
    const later = await inserted(store, epoch, channel, { nextAt: store.now() + hourMs });
    assert.deepEqual((await settled(store, epoch, first, failed('park')))?.channel.holdChanged, true);
    assert.equal(await holdOf(store, channel), 'parked');
    assert.deepEqual(
      [(await rowOf(store, first))['state'], (await rowOf(store, later))['state']],
      ['parked', 'parked'],
    );
    assert.deepEqual(await store.fenced(epoch, (tx) => takeProbes(tx, store.now())), []);
    clock.offsetMs += 16 * minuteMs;
    assert.deepEqual(await store.fenced(epoch, (tx) => takeProbes(tx, store.now())), [first.id]);
    await settled(store, epoch, first, failed('retry', store.now()));
    assert.equal(
      (await rowOf(store, first))['state'],
      'parked',
      'a channel that is to be mended tries nothing by itself',
    );
    clock.offsetMs += 16 * minuteMs;
    await store.fenced(epoch, (tx) => takeProbes(tx, store.now()));
    await settled(store, epoch, first, delivered);
    assert.equal(await holdOf(store, channel), null);
    assert.deepEqual([(await rowOf(store, first))['state'], (await rowOf(store, later))['state']], ['sent', 'ready']);
  });

  test('five failures in a row open the circuit, and one message probes it', async ({ store, epoch, clock }) => {
    const channel = await aChannel(store, epoch);
    const first = await inserted(store, epoch, channel);
    await inserted(store, epoch, channel, { nextAt: store.now() + 20_000 });
    for (let attempt = 0; attempt < 5; attempt++) await settled(store, epoch, first, failed('retry', store.now()));
    assert.equal(await holdOf(store, channel), 'circuit');
    clock.offsetMs += 29_000;
    const claim = () =>
      store.fenced(epoch, (tx) =>
        claimDeliveries(tx, aClaim({ claimedBy: 'other/boot', roomOn: (uid) => (uid === channel.uid ? 64 : 0) })),
      );
    assert.deepEqual(await claim(), []);
    clock.offsetMs += 2_000;
    const probes = await claim();
    assert.equal(probes.length, 1);
    await store.fenced(epoch, (tx) =>
      settleDelivery(tx, { deliveryId: probes[0]?.id ?? '', claimedBy: 'other/boot', settlement: delivered }),
    );
    assert.equal(await holdOf(store, channel), null);
    assert.equal((await claim()).length, 1);
  });

  test('a dead message is sent again by hand under its key', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await settled(store, epoch, delivery, failed('dead'));
    assert.equal((await rowOf(store, delivery))['state'], 'dead');
    assert.equal(await store.transaction((tx) => updateRedriven(tx, delivery.id, 'ana')), true);
    assert.equal(await store.transaction((tx) => updateRedriven(tx, delivery.id, 'ana')), false);
    await settled(store, epoch, delivery, delivered);
    assert.deepEqual((await rowOf(store, delivery))['state'], 'sent');
    assert.equal(await store.transaction((tx) => updateRedriven(tx, delivery.id, 'ana')), false);
  });
});

export const streams = contract('streams and twins', (test) => {
  test('a twin goes out when the one it was merged into is taken back', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const at = store.now();
    const [own, twin] = [anAlert(cronJob.id, at), anAlert(cronJob.id, at)];
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [own]);
      await insertAlerts(tx, [twin]);
    });
    const collapseKey = newId(at);
    const first = await inserted(store, epoch, channel, { alertId: own.id, streamId: own.id, collapseKey });
    const wanted = { collapseKey, alertId: twin.id, severity: 'warning', after: at - 1_000 } as const;
    assert.deepEqual(await findTwin(store, wanted), { id: first.id, streamId: own.id });
    assert.equal(await findTwin(store, { ...wanted, alertId: own.id }), undefined);
    assert.equal(await findTwin(store, { ...wanted, severity: 'critical' }), undefined);
    assert.equal(await findTwin(store, { ...wanted, after: store.now() + 1 }), undefined);
    const end = await findStreamEnd(store, own.id, channel.uid);
    assert.deepEqual(end, { nextSeq: 2, heading: first.payload.heading });
    assert.deepEqual(await findStreamEnd(store, twin.id, channel.uid), { nextSeq: 1, heading: undefined });
    const second = await inserted(store, epoch, channel, {
      alertId: twin.id,
      streamId: own.id,
      seq: 2,
      state: 'collapsed',
      mergedInto: first.id,
      collapseKey,
    });
    assert.equal(await isStreamShared(store, { streamId: own.id, channelUid: channel.uid, alertId: own.id }), true);
    const [shown] = await listDeliveriesOfAlert(store, twin.id);
    assert.deepEqual([shown?.state, shown?.fate, shown?.mergedInto], ['collapsed', 'ready', first.id]);
    const back = await store.fenced(epoch, (tx) => updateCancelled(tx, first.id, at));
    assert.deepEqual(back, { cancelled: true, promotedId: second.id });
    const row = await rowOf(store, second);
    assert.deepEqual([row['state'], row['merged_into']], ['ready', null]);
    assert.deepEqual((await store.fenced(epoch, (tx) => updateCancelled(tx, first.id, at))).cancelled, false);
  });

  test('a message on its way is not taken back', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    const cancel = () => store.fenced(epoch, (tx) => updateCancelled(tx, delivery.id, store.now()));
    assert.equal((await cancel()).cancelled, false);
    await store.fenced(epoch, (tx) =>
      settleDelivery(tx, {
        deliveryId: delivery.id,
        claimedBy: 'pod/boot-1',
        settlement: { ...failed('retry', store.now()), maybeSent: true } as Settlement,
      }),
    );
    assert.equal((await cancel()).cancelled, false, 'it may have arrived');
  });

  test('what a deleted channel had to send is taken back', async ({ store, epoch }) => {
    const [channel, other] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    const delivery = await inserted(store, epoch, channel);
    const kept = await inserted(store, epoch, other);
    const cancel = () => store.fenced(epoch, (tx) => updateCancelledOfChannel(tx, channel.uid, store.now()));
    assert.deepEqual([await cancel(), await cancel()], [[delivery.id], []]);
    assert.deepEqual((await rowOf(store, kept))['state'], 'ready');
  });

  test('a message that several alerts wait for tells them all', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const at = store.now();
    const [own, twin] = [anAlert(cronJob.id, at), anAlert(cronJob.id, at)];
    await store.fenced(epoch, async (tx) => {
      await insertAlerts(tx, [own]);
      await insertAlerts(tx, [twin]);
    });
    const collapseKey = newId(at);
    const first = await inserted(store, epoch, channel, { alertId: own.id, collapseKey });
    await inserted(store, epoch, channel, {
      alertId: twin.id,
      streamId: first.streamId,
      seq: 2,
      state: 'collapsed',
      mergedInto: first.id,
      collapseKey,
    });
    await settled(store, epoch, first, delivered);
    for (const { lastNotifiedAt } of await listLiveAlerts(store, [cronJob.id])) assert.ok(lastNotifiedAt !== undefined);
  });

  test('nothing is claimed or settled under an old epoch', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    const next = await takeEpoch(store, 'next');
    const settle = (under: number) =>
      store.fenced(under, (tx) =>
        settleDelivery(tx, { deliveryId: delivery.id, claimedBy: 'pod/boot-1', settlement: delivered }),
      );
    await assert.rejects(settle(epoch), FencedError);
    assert.equal(await settle(next), undefined, 'it was claimed under another epoch');
    assert.equal((await rowOf(store, delivery))['state'], 'claimed');
  });
});
