import assert from 'node:assert/strict';
import {
  countDeliveries,
  countQueued,
  findAlert,
  findChannel,
  findDelivery,
  forgetChannel,
  insertAlerts,
  listChannelNames,
  listChannelStates,
  listDeliveries,
  listKeptSilences,
  listMutableAlerts,
  listMutedBySilence,
  lockAlert,
  lockSilence,
  newId,
  putSilence,
  recordDecisions,
  updateRedriven,
  type DeliveryFilter,
} from '@cronjob-monitor/shared/store';
import { aChannel, anAlert, inserted } from '../alert-facts.ts';
import { now, projected } from '../facts.ts';
import { contract } from '../suite.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const byCreation = { key: 'createdAt', descending: false } as const;
const absent = '019ab2c4-ffff-7000-8000-000000000000';

export const deliveryLists = contract('lists of deliveries', (test) => {
  test('tells a message with the alert it is about', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const channel = await aChannel(store, epoch);
    const alert = anAlert(cronJob.id, now, { namespace: 'prod', cronJobName: 'backup', type: 'jobStuck' });
    await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
    const { id, createdAt, nextAt, expiresAt } = await inserted(store, epoch, channel, { alertId: alert.id });
    assert.deepEqual(await findDelivery(store, id), {
      id,
      alertId: alert.id,
      kind: 'firing',
      state: 'ready',
      channel: channel.name,
      channelType: 'webhook',
      severity: 'warning',
      type: 'jobStuck',
      cronJob: { namespace: 'prod', name: 'backup' },
      attempts: 0,
      createdAt,
      expiresAt,
      sentAt: undefined,
      nextAttemptAt: nextAt,
      stateReason: undefined,
      lastError: undefined,
      mergedInto: undefined,
      httpStatus: undefined,
    });
    assert.equal(await findDelivery(store, absent), undefined);
  });

  test('filters, sorts and pages', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [one, two] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    const alert = anAlert(cronJob.id, now, { namespace: 'data' });
    await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
    const late = await inserted(store, epoch, one, { createdAt: now + 2, nextAt: now + 10 });
    const early = await inserted(store, epoch, one, { createdAt: now, nextAt: now + 30, alertId: alert.id });
    const parked = await inserted(store, epoch, two, { createdAt: now + 1, kind: 'test', severity: 'info' });
    await store
      .sql('deliveries')
      .where({ id: store.dialect.id16(parked.id) })
      .update({ state: 'parked' });
    const names = new Map([
      [late.id, 'late'],
      [early.id, 'early'],
      [parked.id, 'parked'],
    ]);
    const all = { channels: [one.name, two.name] };
    const find = async (filter: DeliveryFilter, options: object = { sort: byCreation }): Promise<unknown> =>
      (await listDeliveries(store, filter, options as { sort: typeof byCreation })).map(({ id }) => names.get(id));
    assert.deepEqual(await find(all), ['early', 'parked', 'late']);
    assert.deepEqual(await find(all, { sort: { key: 'createdAt', descending: true } }), ['late', 'parked', 'early']);
    const byNext = { key: 'nextAttemptAt', descending: false };
    assert.deepEqual(
      await find(all, { sort: byNext }),
      ['late', 'early', 'parked'],
      'what is not due at all comes last',
    );
    assert.deepEqual(await find(all, { sort: { ...byNext, descending: true } }), ['early', 'late', 'parked']);
    assert.deepEqual(await find(all, { sort: byCreation, page: { limit: 1, offset: 1 } }), ['parked']);
    assert.deepEqual(await find({ channels: [two.name] }), ['parked']);
    assert.deepEqual(await find({ channelUid: two.uid }), ['parked']);
    assert.deepEqual(await find({ ...all, states: ['ready'] }), ['early', 'late']);
    assert.deepEqual(await find({ ...all, kinds: ['test'] }), ['parked']);
    assert.deepEqual(await find({ alertId: alert.id }), ['early']);
    assert.deepEqual(await find({ ...all, namespaces: ['data'] }), ['early']);
    assert.deepEqual(await find({ ...all, since: now + 1, until: now + 2 }), ['parked']);
    assert.deepEqual([await countDeliveries(store, all), await countDeliveries(store, { alertId: absent })], [3, 0]);
  });

  test('counts what waits for each channel', async ({ store, epoch }) => {
    const [busy, idle] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    for (const state of ['ready', 'claimed', 'parked', 'dead', 'sent']) {
      const { id } = await inserted(store, epoch, busy);
      await store
        .sql('deliveries')
        .where({ id: store.dialect.id16(id) })
        .update({ state });
    }
    const queues = await countQueued(store);
    assert.deepEqual(queues.get(busy.uid), { queued: 2, parked: 1, dead: 1 });
    assert.equal(queues.get(idle.uid), undefined);
  });

  test('sends again only what was given up or is parked, while its payload is kept', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const { id } = await inserted(store, epoch, channel, { expiresAt: now - hourMs });
    const row = (): ReturnType<typeof store.sql> => store.sql('deliveries').where({ id: store.dialect.id16(id) });
    const redrive = (): Promise<boolean> => store.transaction((tx) => updateRedriven(tx, id, 'ana'));
    assert.equal(await redrive(), false, 'it waits already');
    await row().update({ state: 'dead', next_at: null, ended_at: now });
    const before = store.now();
    assert.equal(await redrive(), true);
    const again = await findDelivery(store, id);
    assert.equal(again?.state, 'ready');
    assert.ok(again.expiresAt >= before + 24 * hourMs, 'it gets 24 hours more');
    await row().update({ state: 'dead', payload: null });
    assert.equal(await redrive(), false);
  });
});

export const channelStates = contract('channels with their figures', (test) => {
  test('lists those that exist, and knows which was deleted', async ({ store, epoch }) => {
    const [kept, gone] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    await store
      .sql('channels')
      .where({ uid: store.dialect.id16(kept.uid) })
      .update({ sent_total: 5, failed_total: 2, failures_in_row: 1, last_sent_at: now, last_error: 'timeout' });
    await store.fenced(epoch, (tx) => forgetChannel(tx, gone.uid, now));
    const states = await listChannelStates(store);
    assert.equal(
      states.some(({ uid }) => uid === gone.uid),
      false,
    );
    assert.deepEqual(
      states.find(({ uid }) => uid === kept.uid),
      {
        ...kept,
        type: 'webhook',
        generation: 1,
        spec: { sendResolved: true },
        ready: true,
        readyChangedAt: undefined,
        reason: 'Validated',
        message: '',
        figures: {
          sentTotal: 5,
          failedTotal: 2,
          failuresInRow: 1,
          lastSentAt: now,
          lastFailedAt: undefined,
          lastError: 'timeout',
          lastTestAt: undefined,
          lastTest: undefined,
        },
      },
    );
    assert.equal((await findChannel(store, kept.name)).channel?.uid, kept.uid);
    assert.deepEqual(await findChannel(store, gone.name), { channel: undefined, wasDeleted: true });
    assert.deepEqual(await findChannel(store, 'never'), { channel: undefined, wasDeleted: false });
    assert.equal((await listChannelNames(store)).get(gone.uid), gone.name);
  });
});

export const muted = contract('what people muted', (test) => {
  test('finds an alert by its id, and locks it', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const alert = anAlert(cronJob.id, now, { state: 'resolved', endedAt: now, severitySource: 'override' });
    await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
    const found = await findAlert(store, alert.id);
    assert.deepEqual([found?.id, found?.state, found?.severitySource], [alert.id, 'resolved', 'override']);
    assert.equal(await findAlert(store, absent), undefined);
    await store.transaction(async (tx) => {
      assert.deepEqual(await lockAlert(tx, alert.id), alert);
      assert.equal(await lockAlert(tx, absent), undefined);
    });
  });

  test('lists the live alerts that a silence can be asked about', async ({ store, epoch }) => {
    const cronJob = await projected(store, epoch);
    const [live, ended] = [anAlert(cronJob.id, now), anAlert(cronJob.id, now, { state: 'resolved', endedAt: now })];
    await store.fenced(epoch, async (tx) => {
      for (const alert of [live, ended]) await insertAlerts(tx, [alert]);
    });
    const listed = (await listMutableAlerts(store)).filter(({ id }) => id === live.id || id === ended.id);
    assert.deepEqual(listed, [
      {
        id: live.id,
        namespace: 'prod',
        cronJobName: 'backup',
        type: 'jobFailed',
        severity: 'warning',
        monitor: { namespace: '', name: '' },
      },
    ]);
  });

  test('knows from the ledger which alerts a silence has held', async ({ store, clock }) => {
    const [silence, alert] = [newId(now), newId(now)];
    const at = clock.now();
    await store.transaction(async (tx) => {
      const of = { alertId: alert, reason: 'silence', detail: silence };
      await recordDecisions(tx, [
        { ...of, action: 'suppressed' },
        { ...of, action: 'released' },
        { ...of, action: 'held' },
        { ...of, alertId: absent, action: 'suppressed', reason: 'maintenance' },
      ]);
    });
    assert.deepEqual((await listMutedBySilence(store, at - 1)).get(silence), new Map([[alert, undefined]]));
    assert.equal((await listMutedBySilence(store, at + hourMs)).get(silence), undefined);
  });

  test('lists silences that are over, too, and locks one', async ({ store }) => {
    const none = { namespaces: [], cronjobs: [], types: [], severities: [], monitor: null, alertId: null };
    const silence = {
      id: newId(now),
      matcher: { ...none, all: true },
      startsAt: now - 3 * hourMs,
      endsAt: now - hourMs,
      untilResolved: false,
      comment: 'storage move',
      createdBy: 'ana',
      createdAt: now - 3 * hourMs,
      updatedAt: now - 3 * hourMs,
      endedAt: undefined,
    };
    await store.transaction((tx) => putSilence(tx, silence));
    assert.deepEqual(
      (await listKeptSilences(store)).find(({ id }) => id === silence.id),
      silence,
    );
    await store.transaction(async (tx) => {
      assert.deepEqual(await lockSilence(tx, silence.id), silence);
      assert.equal(await lockSilence(tx, absent), undefined);
    });
  });
});
