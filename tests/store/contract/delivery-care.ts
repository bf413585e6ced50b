import assert from 'node:assert/strict';
import { digestBody, headingOf, type Message, hourMs, minuteMs } from '@cronjob-monitor/shared/domain';
import {
  claimDeliveries,
  countOpenDeliveries,
  findChannelFault,
  findNextDue,
  findRung,
  findOldestDue,
  foldWaiting,
  insertAlerts,
  insertDigest,
  insertDigestMessage,
  listChannelHolds,
  listDecisions,
  listDeliveriesOfAlert,
  listLiveAlerts,
  listUnwanted,
  newId,
  projectMonitor,
  recordHeldByGrace,
  retellDead,
  putAcknowledgement,
  settleDelivery,
  tellUnacknowledged,
  updateAcknowledgementEnd,
  updateAlert,
  updateExpired,
  updateHeldMessage,
  updateHoldChecked,
  updateHoldLifted,
  type FoldRequest,
  type NewDelivery,
  type Settlement,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aChannel, aClaim, aDelivery, anAlert, inserted, type TestChannel } from '../alert-facts.ts';
import { projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';

const delivered: Settlement = { kind: 'delivered', httpStatus: 200 };
const failed = (next: 'park' | 'invalid' | 'dead'): Settlement => ({
  kind: 'failed',
  next,
  error: { category: 'unauthorized', message: 'It answered 401', httpStatus: 401 },
  maybeSent: false,
});

const startEmpty = async (store: Store): Promise<void> => {
  await store.sql('deliveries').delete();
};

async function settled(store: Store, epoch: number, { id }: { id: string }, settlement: Settlement): Promise<void> {
  await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
  const request = { deliveryId: id, claimedBy: 'pod/boot-1', settlement };
  assert.ok(await store.fenced(epoch, (tx) => settleDelivery(tx, request)));
}

const stateOf = async (store: Store, id: string): Promise<unknown> =>
  (await readRows(store, 'select state from deliveries where id = ?', [store.dialect.id16(id)]))[0]?.['state'];

async function anActiveAlert(store: Store, epoch: number, changes: Parameters<typeof anAlert>[2] = {}) {
  const cronJob = await projected(store, epoch);
  const alert = anAlert(cronJob.id, store.now(), changes);
  await store.fenced(epoch, (tx) => insertAlerts(tx, [alert]));
  return alert;
}

export const unwantedMessages = contract('messages that are not wanted any more', (test) => {
  const reasonOf = async (store: Store, { id }: NewDelivery) => (await listUnwanted(store, [id])).get(id);

  test('are those of a channel that is gone', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    assert.equal(await reasonOf(store, delivery), undefined);
    await store.sql('channels').where({ name: channel.name }).update({ deleted_at: 1 });
    assert.equal(await reasonOf(store, delivery), 'channelDeleted');
  });

  test('are updates of what was not sent, of what a later message follows, and of what is ten minutes old', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const { id: alertId } = await anActiveAlert(store, epoch);
    const opening = await inserted(store, epoch, channel, { alertId, streamId: alertId });
    const update = await inserted(store, epoch, channel, { alertId, streamId: alertId, seq: 2, kind: 'update' });
    assert.equal(await reasonOf(store, update), 'notTold');
    await settled(store, epoch, opening, delivered);
    assert.equal(await reasonOf(store, update), undefined);
    const [{ charged_at: charged } = {}] = await readRows(
      store,
      "select charged_at from deliveries where kind = 'firing'",
    );
    assert.notEqual(charged, null);
    await inserted(store, epoch, channel, {
      alertId,
      streamId: alertId,
      seq: 3,
      kind: 'closing',
      nextAt: store.now() + 5_000,
    });
    assert.equal(await stateOf(store, update.id), 'cancelled');

    const dueAt = store.now() + 5_000;
    const next = await findNextDue(store, store.now());
    assert.ok(next !== undefined && Math.abs(next - dueAt) < 5_000);
    assert.equal(await findNextDue(store, dueAt + hourMs), undefined);
    const late = await inserted(store, epoch, channel, { kind: 'update', expiresAt: store.now() - 1 });
    await store.fenced(epoch, (tx) => updateExpired(tx, tx.now()));
    assert.equal(await stateOf(store, late.id), 'cancelled');
  });

  test('are pages of what is over, unless a closing waits behind them, they may have arrived, or the channel asks for them', async ({
    store,
    epoch,
  }) => {
    const channel = await aChannel(store, epoch);
    const channelIs = (type: string, spec: object) =>
      store
        .sql('channels')
        .where({ name: channel.name })
        .update({ type, spec: JSON.stringify(spec) });
    const alert = await anActiveAlert(store, epoch);
    const opening = await inserted(store, epoch, channel, { alertId: alert.id, streamId: alert.id });
    assert.equal(await reasonOf(store, opening), undefined);
    await store.fenced(epoch, (tx) => updateAlert(tx, { ...alert, state: 'resolved', endedAt: store.now() }));
    assert.equal(await reasonOf(store, opening), undefined, 'no other channel is kept from the news');
    await channelIs('paging', { sendRecovered: true });
    assert.equal(await reasonOf(store, opening), undefined);
    await channelIs('paging', {});
    assert.equal(await reasonOf(store, opening), 'clearedBeforeSent');
    const row = store.sql('deliveries').where({ id: store.dialect.id16(opening.id) });
    await row.clone().update({ maybe_sent: 1 });
    assert.equal(await reasonOf(store, opening), undefined);
    await row.clone().update({ maybe_sent: 0 });
    const closing = { alertId: alert.id, streamId: alert.id, seq: 2, kind: 'closing' } as const;
    assert.equal(await reasonOf(store, await inserted(store, epoch, channel, closing)), undefined);
    assert.equal(await reasonOf(store, opening), undefined);
  });

  test('are those of a monitor that names no channel any more', async ({ store, epoch }) => {
    const channel = await aChannel(store, epoch);
    const monitor = { uid: newId(1), namespace: 'prod', name: `monitor-${newId(1)}`, generation: 1, createdAt: 0 };
    const judged = { phase: 'Active', conditions: [], counts: null, evaluatedAt: undefined } as const;
    const put = (enabled: boolean) =>
      store.fenced(epoch, (tx) => projectMonitor(tx, { ...monitor, ...judged, spec: { alerting: { enabled } } }));
    const { id } = await put(true);
    const alert = await anActiveAlert(store, epoch, { monitorId: id });
    const delivery = await inserted(store, epoch, channel, { alertId: alert.id });
    assert.equal(await reasonOf(store, delivery), undefined);
    await put(false);
    assert.equal(await reasonOf(store, delivery), 'alertingDisabled');
  });

  test('taken back as they were about to be sent, give way to a twin', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const [own, twin] = [await anActiveAlert(store, epoch), await anActiveAlert(store, epoch)];
    const collapseKey = newId(1);
    const first = await inserted(store, epoch, channel, { alertId: own.id, collapseKey });
    const of = { streamId: first.streamId, seq: 2, state: 'collapsed', mergedInto: first.id, collapseKey } as const;
    const second = await inserted(store, epoch, channel, { alertId: twin.id, ...of });
    await settled(store, epoch, first, { kind: 'unwanted', reason: 'clearedBeforeSent' });
    assert.deepEqual([await stateOf(store, first.id), await stateOf(store, second.id)], ['cancelled', 'ready']);
  });
});

export const heldChannels = contract('channels that are held', (test) => {
  test('have their messages back when the hold is lifted', async ({ store, epoch }) => {
    await startEmpty(store);
    for (const [next, hold] of [
      ['park', 'parked'],
      ['invalid', 'invalid'],
    ] as const) {
      const channel = await aChannel(store, epoch);
      const delivery = await inserted(store, epoch, channel);
      await settled(store, epoch, delivery, failed(next));
      assert.deepEqual(await holdOf(store, channel), { hold, failuresInRow: 1 });
      assert.deepEqual(await findChannelFault(store, channel.uid), {
        category: 'unauthorized',
        message: 'It answered 401',
      });
      const lift = () => store.fenced(epoch, (tx) => updateHoldLifted(tx, channel.uid));
      assert.deepEqual([await lift(), await lift()], [true, false]);
      assert.deepEqual(await holdOf(store, channel), { hold: undefined, failuresInRow: 1 });
      assert.equal(await stateOf(store, delivery.id), 'ready');
      assert.equal(await findChannelFault(store, channel.uid), undefined);
    }
  });

  test('leave alone what waits for its turn after other channels', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const nextAt = store.now() + hourMs;
    const turn = await inserted(store, epoch, channel, { cause: 'after', stateReason: 'after', nextAt });
    await settled(store, epoch, await inserted(store, epoch, channel), failed('park'));
    await store.fenced(epoch, (tx) => updateHoldLifted(tx, channel.uid));
    const [row] = await readRows(store, 'select next_at, state_reason from deliveries where id = ?', [
      store.dialect.id16(turn.id),
    ]);
    assert.deepEqual([Number(row?.['next_at']), row?.['state_reason']], [nextAt, 'after']);
  });

  test('and cannot even be tried are looked at again when it was asked for', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    await settled(store, epoch, await inserted(store, epoch, channel), failed('invalid'));
    await store.fenced(epoch, (tx) => updateHoldChecked(tx, channel.uid, 4_711));
    const held = (await listChannelHolds(store)).find(({ uid }) => uid === channel.uid);
    assert.deepEqual([held?.hold, held?.untilAt, held?.type], ['invalid', 4_711, 'webhook']);
  });

  test('are counted by the states of their messages', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const dead = await inserted(store, epoch, channel);
    await settled(store, epoch, dead, failed('dead'));
    assert.equal(await findOldestDue(store, store.now()), undefined);
    const waiting = await inserted(store, epoch, channel);
    await inserted(store, epoch, channel, { nextAt: store.now() + hourMs, createdAt: 1 });
    assert.deepEqual(await countOpenDeliveries(store), { ready: 2, claimed: 0, parked: 0, dead: 1 });
    assert.equal(await findOldestDue(store, store.now()), waiting.createdAt);
  });

  async function holdOf(store: Store, channel: TestChannel): Promise<unknown> {
    const found = (await listChannelHolds(store)).find(({ uid }) => uid === channel.uid);
    return found && { hold: found.hold, failuresInRow: found.failuresInRow };
  }
});

export const digests = contract('digests', (test) => {
  const freeze: FoldRequest['freeze'] = (id, alerts) => {
    const digest = { id, cause: 'rateLimit', scope: null, ended: false, before: 0, ...digestBody(alerts) } as const;
    const message: Message = { kind: 'digest', data: { cluster: null, digest, links: { alerts: null } } };
    return { message, heading: headingOf(message), place: null };
  };
  const fold = { claimedBy: 'pod/boot-1', channel: { type: 'webhook', burst: 3 }, freeze } as const;
  const narrow = (channel: TestChannel) =>
    aClaim({ limitOf: (uid) => (uid === channel.uid ? { maxPerHour: 60, burst: 1 } : { maxPerHour: 1, burst: 1 }) });

  test('take the place of what waited for over a minute, with the token of the one that was claimed', async ({
    store,
    epoch,
    clock,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const alerts = [];
    for (let number = 0; number < 6; number++) {
      const alert = await anActiveAlert(store, epoch);
      alerts.push(alert);
      await inserted(store, epoch, channel, { alertId: alert.id, streamId: alert.id });
    }
    assert.equal((await store.fenced(epoch, (tx) => claimDeliveries(tx, narrow(channel)))).length, 1);
    const early = await store.fenced(epoch, (tx) => claimDeliveries(tx, narrow(channel)));
    assert.deepEqual(early, [], 'the rest waits for tokens');
    clock.offsetMs += 2 * minuteMs;
    const again = await store.fenced(epoch, (tx) => claimDeliveries(tx, narrow(channel)));
    const claimed = again.find(({ heldBy }) => heldBy === 'rateLimit');
    assert.ok(claimed);
    const charged = 'select count(*) as n from deliveries where channel_uid = ? and charged_at is not null';
    const before = await readNumber(store, charged, [store.dialect.id16(channel.uid)]);
    const folded = await store.fenced(epoch, (tx) => foldWaiting(tx, claimed, fold));
    assert.deepEqual([...(folded?.kinds ?? [])], [['firing', 5]]);
    const digest = folded?.digest;
    assert.equal(digest?.kind, 'digest');
    const { message } = digest.payload ?? {};
    assert.equal(message?.kind === 'digest' && message.data.digest.total, 5);
    const rows = await readRows(
      store,
      'select state, count(*) as n from deliveries where channel_uid = ? group by state order by state',
      [store.dialect.id16(channel.uid)],
    );
    assert.deepEqual(
      rows.map(({ state, n }) => [state, Number(n)]),
      [
        ['claimed', 2],
        ['digested', 5],
      ],
    );
    assert.equal(await readNumber(store, charged, [store.dialect.id16(channel.uid)]), before + 1);
    const request = { deliveryId: digest.id, claimedBy: 'pod/boot-1', settlement: delivered };
    assert.equal((await store.fenced(epoch, (tx) => settleDelivery(tx, request)))?.state, 'sent');
    const told = await listLiveAlerts(
      store,
      alerts.map(({ cronJobId }) => cronJobId),
    );
    assert.equal(told.filter(({ lastNotifiedAt }) => lastNotifiedAt !== undefined).length, 5);
    const [ownLedger] = await listDecisions(store, claimed.alertId ?? '').then((all) => all.slice(-1));
    assert.deepEqual([ownLedger?.action, ownLedger?.reason, ownLedger?.detail], ['digested', 'rateLimit', digest.id]);
  });

  test('are not made for a few, nor on a channel whose receivers close each message by itself', async ({
    store,
    epoch,
    clock,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    for (let number = 0; number < 6; number++) await inserted(store, epoch, channel);
    await store.fenced(epoch, (tx) => claimDeliveries(tx, narrow(channel)));
    clock.offsetMs += 2 * minuteMs;
    const [claimed] = await store.fenced(epoch, (tx) => claimDeliveries(tx, narrow(channel)));
    assert.ok(claimed);
    for (const changed of [
      { type: 'webhook', burst: 50 },
      { type: 'paging', burst: 3 },
    ] as const) {
      const request: FoldRequest = { ...fold, channel: changed };
      const folded: unknown = await store.fenced(epoch, (tx) => foldWaiting(tx, claimed, request));
      assert.equal(folded, undefined);
    }
    assert.equal(await stateOf(store, claimed.id), 'claimed');
    const stranger = { ...fold, claimedBy: 'other/boot' };
    assert.equal(await store.fenced(epoch, (tx) => foldWaiting(tx, claimed, stranger)), undefined);
  });

  test('of a storm tell its children, begin and end once, and share one stream', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const of = { cause: 'storm', key: 'fleet', channelUid: undefined, total: 2, isOver: false, isTold: true } as const;
    const digest = await store.fenced(epoch, (tx) => insertDigest(tx, { ...of, id: newId(store.now()) }));
    const digestId = digest.id;
    const alerts = [await anActiveAlert(store, epoch), await anActiveAlert(store, epoch, { severity: 'critical' })];
    const children = alerts.map(({ id, cronJobId, notifyNo, severity }) => ({
      alertId: id,
      cronJobId,
      notifyNo,
      severity,
      kind: 'firing' as const,
    }));
    const payload = aDelivery(store, channel).payload;
    const put = (phase: 'begin' | 'end'): Promise<string | undefined> =>
      store.fenced(epoch, (tx) =>
        insertDigestMessage(tx, { digestId, phase, channel, children, cause: 'storm', payload }),
      );
    const begin = await put('begin');
    assert.ok(begin);
    assert.equal(await put('begin'), undefined);
    const [claimed, ...more] = await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    assert.deepEqual(
      [claimed?.id, claimed?.severity, claimed?.streamId, more.length],
      [begin, 'critical', digestId, 0],
    );
    const request = { deliveryId: begin, claimedBy: 'pod/boot-1', settlement: delivered };
    await store.fenced(epoch, (tx) => settleDelivery(tx, request));
    for (const { id } of alerts) {
      const [told] = await listDeliveriesOfAlert(store, id);
      assert.deepEqual([told?.state, told?.fate, told?.streamId], ['digested', 'sent', digestId]);
    }
    assert.ok(await put('end'));
    assert.equal(await put('end'), undefined);
    const ends = await readRows(store, "select seq from deliveries where kind = 'digest' order by seq");
    assert.deepEqual(
      ends.map(({ seq }) => Number(seq)),
      [1, 4],
    );
  });
});

export const toldAnew = contract('what is told anew', (test) => {
  const word = (frozen: NewDelivery['payload']) => frozen;

  test('is every active alert whose last message to a channel is dead, when the channel delivers again', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const [lost, over] = [await anActiveAlert(store, epoch), await anActiveAlert(store, epoch)];
    for (const { id } of [lost, over]) {
      const delivery = await inserted(store, epoch, channel, { alertId: id, streamId: id });
      await settled(store, epoch, delivery, failed('dead'));
    }
    await store.fenced(epoch, (tx) => updateAlert(tx, { ...over, state: 'resolved', endedAt: store.now() }));
    const retell = () => store.fenced(epoch, (tx) => retellDead(tx, channel.uid, word));
    assert.deepEqual([await retell(), await retell()], [1, 0]);
    const told = await listDeliveriesOfAlert(store, lost.id);
    assert.deepEqual(
      told.map(({ kind, state, seq }) => [kind, state, seq]),
      [
        ['firing', 'dead', 1],
        ['firing', 'ready', 2],
      ],
    );
    const last = (await listDecisions(store, lost.id)).at(-1);
    assert.deepEqual([last?.action, last?.reason], ['queued', 'channelRecovered']);
    assert.deepEqual((await listLiveAlerts(store, [lost.cronJobId]))[0]?.notifyNo, lost.notifyNo + 1);
    // Refused again: a receiver that refuses a message for good is not asked each time that another one gets through.
    await settled(store, epoch, { id: told[1]?.id ?? '' }, failed('dead'));
    assert.equal(await retell(), 0);
  });

  test('asks by one message whether a channel works again, by none while one waits there', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    for (const { id } of [await anActiveAlert(store, epoch), await anActiveAlert(store, epoch)])
      await inserted(store, epoch, channel, { alertId: id, streamId: id, expiresAt: 1 });
    const retell = () => store.fenced(epoch, (tx) => retellDead(tx, channel.uid, word, true));
    const waiting = await retell();
    await store.fenced(epoch, (tx) => updateExpired(tx, store.now()));
    assert.deepEqual([waiting, await retell(), await retell()], [0, 1, 0]);
  });

  test('is the one message about what began and ended, once, when it was given up', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const over = await anActiveAlert(store, epoch);
    await store.fenced(epoch, (tx) => updateAlert(tx, { ...over, state: 'resolved', endedAt: store.now() }));
    const notice = { alertId: over.id, streamId: over.id, kind: 'closing', cause: 'firstNotice' } as const;
    await settled(store, epoch, await inserted(store, epoch, channel, notice), failed('dead'));
    const retell = () => store.fenced(epoch, (tx) => retellDead(tx, channel.uid, word));
    assert.deepEqual([await retell(), await retell()], [1, 0]);
    const told = await listDeliveriesOfAlert(store, over.id);
    assert.deepEqual(
      told.map(({ kind, cause, state }) => [kind, cause, state]),
      [
        ['closing', 'firstNotice', 'dead'],
        ['closing', 'firstNotice', 'ready'],
      ],
    );
    await settled(store, epoch, { id: told[1]?.id ?? '' }, delivered);
    assert.equal(await retell(), 0, 'it was told');
  });

  test('is what an acknowledgement kept from a later channel, once that has ended', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const now = store.now();
    const alert = await anActiveAlert(store, epoch, { activatedAt: now });
    const of = { alertId: alert.id, streamId: alert.id, cause: 'after', createdAt: now };
    const turn = await inserted(store, epoch, channel, of);
    const note = { byWhom: 'ana', at: now, note: undefined, expiresAt: undefined };
    await store.transaction((tx) => putAcknowledgement(tx, alert.id, note));
    await settled(store, epoch, turn, { kind: 'unwanted', reason: 'acknowledged' });
    const rung = { alertId: alert.id, channelUid: channel.uid };
    assert.deepEqual((await findRung(store, rung))?.note, { byWhom: 'ana', isInForce: true });
    const tell = () => store.fenced(epoch, (tx) => tellUnacknowledged(tx));
    assert.equal(await tell(), 0);
    await store.transaction((tx) => updateAcknowledgementEnd(tx, alert.id, store.now() + minuteMs));
    assert.deepEqual([await tell(), await tell()], [1, 0]);
    assert.deepEqual((await findRung(store, rung))?.note, { byWhom: 'ana', isInForce: false });
  });

  test('says what held it, once and before it was sent', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const delivery = await inserted(store, epoch, channel);
    await store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim()));
    const payload = { ...delivery.payload, place: { pod: 'p', container: null, image: null, node: null } };
    const update = (claimedBy: string) =>
      store.fenced(epoch, (tx) => updateHeldMessage(tx, { deliveryId: delivery.id, claimedBy, payload }));
    assert.equal(await update('other/boot'), false);
    assert.equal(await update('pod/boot-1'), true);
  });

  test('waits for the end of the startup grace with a line in the ledger', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const alert = await anActiveAlert(store, epoch);
    const delivery = await inserted(store, epoch, channel, { alertId: alert.id });
    const record = (...known: string[]) =>
      store.fenced(epoch, (tx) => recordHeldByGrace(tx, { untilAt: 99, known: new Set(known) }));
    assert.deepEqual(await record(), [delivery.id]);
    assert.deepEqual(await record(delivery.id), []);
    assert.deepEqual(
      (await listDecisions(store, alert.id)).map(({ action, reason, untilAt }) => [action, reason, untilAt]),
      [['held', 'startupGrace', 99]],
    );
  });
});
