import assert from 'node:assert/strict';
import {
  claimDeliveries,
  insertAlerts,
  insertDelivery,
  listBeingTold,
  lockDependentMessages,
  lockWaitingMessages,
  newId,
  projectCronJob,
  takeClaimsOfEarlierTerms,
  takeClaimsOfPod,
  takeEpoch,
  updateExpired,
  updateLookedAt,
  updateOwed,
  type ClaimedDelivery,
  type ClaimRequest,
  type Store,
} from '@cronjob-monitor/shared/store';
import { aChannel, aClaim, aDelivery, anAlert, inserted, type TestChannel } from '../alert-facts.ts';
import { projected } from '../facts.ts';
import { readNumber, readRows } from '../rows.ts';
import { contract } from '../suite.ts';
import { hourMs, minuteMs, refText } from '@cronjob-monitor/shared/domain';

const claim = (store: Store, epoch: number, changes: Partial<ClaimRequest> = {}): Promise<ClaimedDelivery[]> =>
  store.fenced(epoch, (tx) => claimDeliveries(tx, aClaim(changes)));
const idsOf = (claimed: readonly { id: string }[]): string[] => claimed.map(({ id }) => id);
/** Nothing of earlier tests is left to claim. */
const startEmpty = async (store: Store): Promise<void> => {
  await store.sql('deliveries').delete();
};
const rowOf = async (store: Store, id: string): Promise<Record<string, unknown>> =>
  (
    await readRows(
      store,
      'select state, state_reason, next_at, attempts, maybe_sent, charged_at from deliveries where id = ?',
      [store.dialect.id16(id)],
    )
  )[0] ?? {};

export const outbox = contract('outbox', (test) => {
  test('a replayed decision to tell writes nothing', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const delivery = aDelivery(store, channel);
    const again = { ...delivery, id: newId(store.now()), seq: 2 };
    assert.equal(await store.fenced(epoch, (tx) => insertDelivery(tx, delivery)), true);
    assert.equal(await store.fenced(epoch, (tx) => insertDelivery(tx, again)), false);
    assert.equal(
      await readNumber(store, 'select count(*) as n from deliveries where dedup_key = ?', [delivery.dedupKey]),
      1,
    );
    const told = await readRows(store, "select data from changes where kind = 'delivery' and data like ?", [
      `%${delivery.id}%`,
    ]);
    assert.deepEqual(
      told.map(({ data }) => JSON.parse(String(data))),
      [{ id: delivery.id, alertId: null, channel: channel.name, kind: 'firing', state: 'ready' }],
    );
  });

  test('a claim takes tests first, then the worst, then the oldest, and counts the attempt', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const at = store.now();
    const late = await inserted(store, epoch, channel, { nextAt: at - 10 });
    const early = await inserted(store, epoch, channel, { nextAt: at - 20 });
    const critical = await inserted(store, epoch, channel, { severity: 'critical' });
    const test = await inserted(store, epoch, channel, { kind: 'test', severity: 'info' });
    await inserted(store, epoch, channel, { nextAt: at + hourMs });
    const claimed = await claim(store, epoch);
    assert.deepEqual(idsOf(claimed), idsOf([test, critical, early, late]));
    const [, first] = claimed;
    assert.deepEqual(
      [first?.attempts, first?.maybeSent, first?.channelName, first?.payload],
      [1, false, channel.name, critical.payload],
    );
    assert.deepEqual(await claim(store, epoch), [], 'what is claimed is not claimed again');
  });

  test('before the first evaluation only tests are claimed', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    await inserted(store, epoch, channel);
    const test = await inserted(store, epoch, channel, { kind: 'test', severity: 'info' });
    assert.deepEqual(idsOf(await claim(store, epoch, { onlyTests: true })), [test.id]);
  });

  test('first messages about what waits for others are found while nothing of them has left, and can be put off', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const cronJobs = [await projected(store, epoch), await projected(store, epoch)];
    const [parent, child] = cronJobs;
    assert.ok(parent && child);
    const dependsOn = [`${parent.namespace}/${parent.name}`];
    await store.fenced(epoch, (tx) => projectCronJob(tx, { facts: child, seenAt: store.now(), dependsOn }));
    const at = store.now();
    const alerts = cronJobs.map(({ id, namespace, name }) =>
      anAlert(id, at, { namespace, cronJobName: name, lastNotifiedAt: undefined, dueAt: undefined }),
    );
    await store.fenced(epoch, (tx) => insertAlerts(tx, alerts));
    for (const { id } of alerts) await inserted(store, epoch, channel, { alertId: id, streamId: id });
    const look = () => store.fenced(epoch, (tx) => lockDependentMessages(tx));
    const [message, ...more] = await look();
    assert.ok(message);
    assert.deepEqual(
      [message.alertId, refText(message.cronJob), message.isDelayed, more],
      [alerts[1]?.id, `${child.namespace}/${child.name}`, false, []],
    );
    const told = await store.fenced(epoch, (tx) => listBeingTold(tx, [alerts[0]?.id ?? '']));
    assert.deepEqual([...told], [alerts[0]?.id]);
    await store.fenced(epoch, (tx) => updateLookedAt(tx, [message.id], at + minuteMs));
    assert.deepEqual(await look(), []);
    assert.equal((await claim(store, epoch)).length, 1, 'that of the parent');
    await store.fenced(epoch, (tx) =>
      updateOwed(tx, { alertId: message.alertId, dueAt: at + minuteMs, takenBack: [] }),
    );
    const due = 'select due_at as n from alerts where id = ?';
    assert.equal(await readNumber(store, due, [store.dialect.id16(message.alertId)]), at + minuteMs);
  });

  test('what waits to be told is found whatever it waits for, but for a channel that hears later, and only what is wanted', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const cronJob = await projected(store, epoch);
    const { id: cronJobId, namespace, name: cronJobName } = cronJob;
    const at = store.now();
    const waits = [{}, { nextAt: at + hourMs, stateReason: 'rateLimit' }, { stateReason: 'after' }] as const;
    const alerts = [...waits, {}].map(() =>
      anAlert(cronJobId, at, { namespace, cronJobName, lastNotifiedAt: undefined, dueAt: undefined }),
    );
    await store.fenced(epoch, (tx) => insertAlerts(tx, alerts));
    for (const [index, { id }] of alerts.entries()) {
      const { id: deliveryId } = await inserted(store, epoch, channel, { alertId: id, streamId: id });
      const { nextAt = at, stateReason = null } = { nextAt: undefined, stateReason: undefined, ...waits[index] };
      await store
        .sql('deliveries')
        .where({ id: store.dialect.id16(deliveryId) })
        .update({ next_at: nextAt, state_reason: stateReason });
    }
    const unwanted = alerts.at(-1)?.id;
    const found = await store.fenced(epoch, (tx) => lockWaitingMessages(tx, ({ alertId }) => alertId !== unwanted));
    assert.deepEqual(
      found.map(({ alertId }) => alertId).toSorted(),
      alerts
        .slice(0, 2)
        .map(({ id }) => id)
        .toSorted(),
    );
    assert.deepEqual(found[0]?.cronJob, { namespace, name: cronJobName });
  });

  test('of one stream and channel only the first open message can be taken', async ({ store, epoch }) => {
    await startEmpty(store);
    const [channel, other] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    const opening = await inserted(store, epoch, channel);
    const { streamId } = opening;
    const closing = await inserted(store, epoch, channel, { streamId, seq: 2, kind: 'closing', severity: 'critical' });
    const elsewhere = await inserted(store, epoch, other, { streamId, seq: 2, kind: 'closing' });
    assert.deepEqual(idsOf(await claim(store, epoch)).toSorted(), idsOf([opening, elsewhere]).toSorted());
    await store
      .sql('deliveries')
      .where({ id: store.dialect.id16(opening.id) })
      .update({ state: 'parked' });
    assert.deepEqual(await claim(store, epoch), []);
    await store
      .sql('deliveries')
      .where({ id: store.dialect.id16(opening.id) })
      .update({ state: 'sent' });
    assert.deepEqual(idsOf(await claim(store, epoch)), [closing.id]);
  });

  test('a claim that ran out is taken again, and may have been sent', async ({ store, epoch, clock }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const { id } = await inserted(store, epoch, channel);
    await claim(store, epoch);
    clock.offsetMs += 30_001;
    const [again] = await claim(store, epoch, { claimedBy: 'other/boot' });
    assert.deepEqual([again?.id, again?.attempts, again?.maybeSent], [id, 2, true]);
  });

  test('a restarted container frees the claims of its earlier boots at once', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const mine = await inserted(store, epoch, channel);
    await claim(store, epoch, { claimedBy: 'p_d/boot-1' });
    const theirs = await inserted(store, epoch, channel);
    await claim(store, epoch, { claimedBy: 'pod/boot-1' });
    const free = (): Promise<number> =>
      store.fenced(epoch, (tx) => takeClaimsOfPod(tx, { pod: 'p_d', claimedBy: 'p_d/boot-2' }));
    assert.deepEqual([await free(), await free()], [1, 0]);
    const [again] = await claim(store, epoch, { claimedBy: 'p_d/boot-2' });
    assert.deepEqual([again?.id, again?.maybeSent], [mine.id, true]);
    assert.equal((await rowOf(store, theirs.id))['state'], 'claimed');
  });

  test('two claims at once never take the same message', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const made = [];
    for (let number = 0; number < 40; number++) made.push(await inserted(store, epoch, channel));
    const others = [store, store, store]; // connections of one pool, where there is one
    const taken: string[] = [];
    for (let turn = 0; turn < 40 && taken.length < made.length; turn++) {
      const claims = await Promise.all(others.map((each) => claim(each, epoch, { room: 8 })));
      taken.push(...claims.flatMap(idsOf));
    }
    assert.equal(new Set(taken).size, taken.length);
    assert.deepEqual(taken.toSorted(), idsOf(made).toSorted());
  });

  test('room bounds what is taken, in all and on each channel', async ({ store, epoch }) => {
    await startEmpty(store);
    const [chat, hook] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    for (const channel of [chat, chat, chat, hook, hook, hook]) await inserted(store, epoch, channel);
    const claimed = await claim(store, epoch, { room: 3, roomOn: (uid) => (uid === chat.uid ? 1 : 5) });
    assert.deepEqual(claimed.map(({ channelUid }) => (channelUid === chat.uid ? 'chat' : 'hook')).toSorted(), [
      'chat',
      'hook',
      'hook',
    ]);
  });

  test('a long queue of a channel without room hides no other', async ({ store, epoch }) => {
    await startEmpty(store);
    const [chat, hook] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    for (let number = 0; number < 70; number++) await inserted(store, epoch, chat, { severity: 'critical' });
    const behind = await inserted(store, epoch, hook);
    const narrow = { room: 8, roomOn: (uid: string) => (uid === chat.uid ? 1 : 2) };
    const first = await claim(store, epoch, narrow);
    assert.deepEqual([first.length, first.at(-1)?.id], [2, behind.id]);
    const next = await inserted(store, epoch, hook);
    assert.deepEqual(idsOf(await claim(store, epoch, { ...narrow, fullChannels: [chat.uid] })), [next.id]);
  });

  test('what is past its time is given up, with the reason', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const at = store.now();
    const old = await inserted(store, epoch, channel, { expiresAt: at - 1 });
    assert.deepEqual(await claim(store, epoch), []);
    assert.deepEqual(await store.fenced(epoch, (tx) => updateExpired(tx, at)), [
      { id: old.id, channelUid: channel.uid, channelName: channel.name, kind: 'firing' },
    ]);
    assert.deepEqual(await store.fenced(epoch, (tx) => updateExpired(tx, at)), []);
    assert.equal((await rowOf(store, old.id))['state'], 'dead');
    const ledger = await readRows(store, 'select action, reason from alert_decisions where delivery_id = ?', [
      store.dialect.id16(old.id),
    ]);
    assert.deepEqual(
      ledger.map((row) => ({ ...row })),
      [{ action: 'dead', reason: 'expired' }],
    );
  });
});

/** On a schema of its own: at its end another leads. */
export const earlierTerms = contract('claims of earlier terms', (test) => {
  test('a leader frees what leaders before it had claimed, and nothing of its own', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const theirs = await inserted(store, epoch, channel);
    await claim(store, epoch, { claimedBy: 'pod-a/boot' });
    const next = await takeEpoch(store, 'pod-b');
    const mine = await inserted(store, next, channel);
    await claim(store, next, { claimedBy: 'pod-b/boot' });
    const free = (): Promise<number> => store.fenced(next, (tx) => takeClaimsOfEarlierTerms(tx));
    assert.deepEqual([await free(), await free()], [1, 0]);
    const [again] = await claim(store, next, { claimedBy: 'pod-b/boot' });
    assert.deepEqual([again?.id, again?.maybeSent], [theirs.id, true]);
    assert.equal((await rowOf(store, mine.id))['state'], 'claimed');
  });
});

/** A limit of its own for a channel; others have room. */
const limited = (channel: TestChannel, maxPerHour: number, burst: number): Partial<ClaimRequest> => ({
  limitOf: (uid) => (uid === channel.uid ? { maxPerHour, burst } : { maxPerHour: 3_600_000, burst: 100_000 }),
});

export const limits = contract('rate limits', (test) => {
  test('what is over the limit waits, one period after the other, and is no failure', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const made = [];
    for (let number = 0; number < 5; number++)
      made.push(await inserted(store, epoch, channel, { severity: 'critical' }));
    const claimed = await claim(store, epoch, limited(channel, 60, 2));
    assert.deepEqual(idsOf(claimed), idsOf(made.slice(0, 2)));
    const waiting = await Promise.all(made.slice(2).map(({ id }) => rowOf(store, id)));
    const steps = waiting.map(({ next_at: nextAt }) => Number(nextAt) - Number(waiting[0]?.['next_at']));
    assert.deepEqual(steps, [0, minuteMs, 2 * minuteMs]);
    assert.ok(Number(waiting[0]?.['next_at']) > store.now());
    for (const row of waiting) {
      assert.deepEqual([row['state'], row['state_reason'], row['attempts']], ['ready', 'rateLimit', 0]);
    }
    const ledger = await readRows(store, 'select action, reason from alert_decisions where delivery_id = ?', [
      store.dialect.id16(made[4]?.id ?? ''),
    ]);
    assert.deepEqual(
      ledger.map((row) => ({ ...row })),
      [{ action: 'rateLimited', reason: 'channel' }],
    );
  });

  test('a burst is for all severities, and critical messages have a fifth on top of it', async ({ store, epoch }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    for (let number = 0; number < 10; number++) await inserted(store, epoch, channel);
    await inserted(store, epoch, channel);
    assert.equal((await claim(store, epoch, limited(channel, 100, 10))).length, 10);
    const criticals = [];
    for (let number = 0; number < 3; number++)
      criticals.push(await inserted(store, epoch, channel, { severity: 'critical' }));
    assert.deepEqual(idsOf(await claim(store, epoch, limited(channel, 100, 10))), idsOf(criticals.slice(0, 2)));
  });

  test('while a critical message of a channel waits for its token, no other goes before it', async ({
    store,
    epoch,
    clock,
  }) => {
    await startEmpty(store);
    const [channel, other] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    const narrow = limited(channel, 3_600, 10);
    for (let number = 0; number < 13; number++) await inserted(store, epoch, channel, { severity: 'critical' });
    assert.equal((await claim(store, epoch, narrow)).length, 10);
    const warning = await inserted(store, epoch, channel);
    const elsewhere = await inserted(store, epoch, other);
    // The minute is over for the limit of the channel, but the criticals were not looked for yet.
    await store
      .sql('deliveries')
      .where({ state: 'claimed' })
      .update({ state: 'sent', charged_at: store.now() - hourMs });
    await store.sql('rate_limits').delete();
    assert.deepEqual(idsOf(await claim(store, epoch, narrow)), [elsewhere.id]);
    const waiting = await readNumber(
      store,
      "select max(next_at) as n from deliveries where priority = 2 and state = 'ready'",
    );
    const row = await rowOf(store, warning.id);
    assert.deepEqual([row['state'], row['state_reason'], Number(row['next_at'])], ['ready', 'rateLimit', waiting]);
    clock.offsetMs += 2 * minuteMs;
    const claimed = await claim(store, epoch, { ...narrow, fullChannels: [other.uid] });
    assert.deepEqual(
      claimed.map(({ severity }) => severity),
      ['critical', 'critical', 'critical', 'warning'],
    );
  });

  test('no hour has more messages than the channel allows, whatever the burst lets through', async ({
    store,
    epoch,
    clock,
  }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    for (let number = 0; number < 8; number++) await inserted(store, epoch, channel, { severity: 'critical' });
    const narrow = limited(channel, 6, 4);
    assert.equal((await claim(store, epoch, narrow)).length, 4);
    clock.offsetMs += 30 * minuteMs;
    // Claims that ran out took their token before: they are not what is counted here.
    const left = `select count(*) as n from deliveries where channel_uid = ? and charged_at is not null`;
    await claim(store, epoch, narrow);
    assert.equal(await readNumber(store, left, [store.dialect.id16(channel.uid)]), 6);
    clock.offsetMs += 20 * minuteMs;
    await claim(store, epoch, narrow);
    assert.equal(await readNumber(store, left, [store.dialect.id16(channel.uid)]), 6);
    clock.offsetMs += 11 * minuteMs;
    await claim(store, epoch, narrow);
    assert.equal(await readNumber(store, left, [store.dialect.id16(channel.uid)]), 8);
  });

  test('all channels share one limit, and a refused message takes no token of its channel', async ({
    store,
    epoch,
  }) => {
    await startEmpty(store);
    const [a, b] = [await aChannel(store, epoch), await aChannel(store, epoch)];
    for (const channel of [a, a, b, b]) await inserted(store, epoch, channel, { severity: 'critical' });
    await store.sql('rate_limits').where({ scope: 'global' }).delete();
    const claimed = await claim(store, epoch, { globalLimit: { periodMs: 1_200, burst: 3 } });
    assert.equal(claimed.length, 3);
    const refused = await readRows(
      store,
      "select d.reason from alert_decisions d where d.action = 'rateLimited' and d.channel_uid in (?, ?)",
      [store.dialect.id16(a.uid), store.dialect.id16(b.uid)],
    );
    assert.deepEqual(
      refused.map(({ reason }) => reason),
      ['global'],
    );
  });

  test('a retry and a test take no token', async ({ store, epoch, clock }) => {
    await startEmpty(store);
    const channel = await aChannel(store, epoch);
    const first = await inserted(store, epoch, channel, { severity: 'critical' });
    const narrow = limited(channel, 1, 1);
    assert.deepEqual(idsOf(await claim(store, epoch, narrow)), [first.id]);
    const test = await inserted(store, epoch, channel, { kind: 'test', severity: 'info', streamId: newId(1) });
    assert.deepEqual(idsOf(await claim(store, epoch, narrow)), [test.id]);
    clock.offsetMs += minuteMs;
    assert.deepEqual(idsOf(await claim(store, epoch, narrow)).toSorted(), idsOf([first, test]).toSorted());
  });
});
