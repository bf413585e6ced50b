import assert from 'node:assert/strict';
import { countAlerts, listAlerts, listTold, type Store, type StoredAlert } from '@cronjob-monitor/shared/store';
import { aChannel } from '../alert-facts.ts';
import { now, projected } from '../facts.ts';
import { contract } from '../suite.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const idOf = (number: number): string => `00000000-0000-7000-8000-0000000000${String(number).padStart(2, '0')}`;

/** Rows as the leader writes them. */
async function insertAlert(store: Store, number: number, fields: object): Promise<void> {
  await store.sql('alerts').insert({
    id: store.dialect.id16(idOf(number)),
    fingerprint: store.dialect.id16(idOf(number)),
    monitor_id: 1,
    cronjob_id: 1,
    namespace: 'prod',
    cronjob_name: 'backup',
    type: 'jobFailed',
    severity: 'warning',
    severity_source: 'default',
    state: 'active',
    since_at: now - number * minuteMs,
    detected_at: now,
    last_seen_at: now,
    message: 'it failed',
    count: 1,
    ...fields,
  });
}

async function insertDelivery(store: Store, number: number, alert: number, fields: object): Promise<void> {
  await store.sql('deliveries').insert({
    id: store.dialect.id16(idOf(number)),
    stream_id: store.dialect.id16(idOf(alert)),
    seq: number,
    alert_id: store.dialect.id16(idOf(alert)),
    channel_uid: store.dialect.id16(idOf(90)),
    channel_name: 'team-chat',
    kind: 'firing',
    priority: 0,
    severity: 'warning',
    state: 'sent',
    dedup_key: String(number),
    created_at: now + number,
    expires_at: now + 86_400_000,
    ...fields,
  });
}

export const alertLists = contract('lists of alerts', (test) => {
  test('filters, sorts, pages and counts alerts', async ({ store, epoch }) => {
    await projected(store, epoch, { name: 'backup' });
    await insertAlert(store, 1, {});
    await insertAlert(store, 2, { severity: 'critical', type: 'deadManTriggered', namespace: 'data', cause: 1 });
    await insertAlert(store, 3, { state: 'suppressed', suppressed_by: 'silence', cronjob_name: 'etl' });
    await insertAlert(store, 4, { state: 'resolved', ended_at: now - 10 });
    await insertAlert(store, 5, { state: 'expired', ended_at: now - 5, close_cause: 'deselected' });
    await store
      .sql('acknowledgements')
      .insert({ alert_id: store.dialect.id16(idOf(1)), by_whom: 'ana', at: now, note: 'seen', expires_at: now + 1 });
    const bySeverity = { key: 'severity', descending: false } as const;
    const numbersOf = async (filter: object, sort: object = bySeverity, page?: { limit: number; offset: number }) =>
      (
        await listAlerts(
          store,
          { states: ['active', 'suppressed'], ...filter },
          { sort: sort as typeof bySeverity, page },
        )
      ).map(({ id }) => Number(id.slice(-2)));
    assert.deepEqual(await numbersOf({}), [2, 3, 1], 'worst first, then the oldest');
    assert.deepEqual(await numbersOf({ states: ['active'] }), [2, 1]);
    assert.deepEqual(await numbersOf({ severities: ['warning'] }), [3, 1]);
    assert.deepEqual(await numbersOf({ types: ['deadManTriggered'] }), [2]);
    assert.deepEqual(await numbersOf({ causes: ['capacity', 'platform'] }), [2]);
    assert.deepEqual(await numbersOf({ causes: ['platform'] }), []);
    assert.deepEqual(await numbersOf({ namespaces: ['prod'], cronJobs: ['etl'] }), [3]);
    assert.deepEqual(await numbersOf({ acknowledged: true }), [1]);
    assert.deepEqual(await numbersOf({ acknowledged: false }), [2, 3]);
    assert.deepEqual(await numbersOf({ monitor: { namespace: 'x', name: 'y' } }), []);
    assert.deepEqual(await numbersOf({}, { key: 'since', descending: false }), [3, 2, 1]);
    assert.deepEqual(await numbersOf({}, { key: 'since', descending: true }), [1, 2, 3]);
    assert.deepEqual(await numbersOf({}, bySeverity, { limit: 1, offset: 1 }), [3]);
    const history = { states: ['resolved', 'expired'] };
    assert.deepEqual(await numbersOf(history, { key: 'endedAt', descending: true }), [5, 4]);
    assert.deepEqual(await numbersOf({ ...history, endedSince: now - 5 }), [5]);
    assert.deepEqual(await numbersOf({ ...history, endedUntil: now - 5 }), [4]);
    assert.deepEqual(await countAlerts(store, { states: ['active', 'suppressed'] }), { critical: 1, warning: 2 });
    const everyState = { states: ['active', 'suppressed', 'resolved', 'expired'] } as const;
    for (const key of ['severity', 'since', 'type', 'namespace', 'cronjob', 'endedAt'] as const) {
      for (const descending of [false, true]) {
        const sort = { key, descending };
        const whole = await listAlerts(store, everyState, { sort });
        const inParts: StoredAlert[] = [];
        for (let last: StoredAlert | undefined; ; last = inParts.at(-1)) {
          const part = await listAlerts(store, everyState, { sort, page: { limit: 2, offset: 0 }, after: last });
          inParts.push(...part);
          if (part.length < 2) break;
        }
        assert.equal(whole.length, 5);
        assert.deepEqual(inParts, whole, `in parts by ${key}, ${descending ? 'falling' : 'rising'}`);
      }
    }
    const [first] = await listAlerts(store, { states: ['active'], acknowledged: true }, { sort: bySeverity });
    assert.deepEqual(first?.acknowledgement, { by: 'ana', at: now, note: 'seen', expiresAt: now + 1 });
  });

  test('tells the messages about an alert, with the fate of the one they were merged into', async ({
    store,
    epoch,
  }) => {
    await insertDelivery(store, 11, 1, { state: 'sent', attempts: 2, http_status: 200 });
    await insertDelivery(store, 12, 1, {
      kind: 'reminder',
      state: 'collapsed',
      merged_into: store.dialect.id16(idOf(13)),
    });
    await insertDelivery(store, 13, 50, { state: 'dead', last_error: '{"category":"timeout"}', http_status: 500 });
    const decision = { at: now, last_at: now, alert_id: store.dialect.id16(idOf(2)) };
    await store.sql('alert_decisions').insert({ ...decision, action: 'held', reason: 'storm', until_at: now });
    await store.sql('alert_decisions').insert({ ...decision, action: 'notRouted', reason: 'noChannel' });
    await store.sql('alert_decisions').insert({ ...decision, action: 'queued' });
    const told = await listTold(store, [idOf(1), idOf(2), idOf(3)]);
    assert.deepEqual(
      told
        .get(idOf(1))
        ?.deliveries.map(({ id, kind, state, category, httpStatus }) => [
          Number(id.slice(-2)),
          kind,
          state,
          category,
          httpStatus,
        ]),
      [
        [11, 'firing', 'sent', undefined, 200],
        [12, 'reminder', 'dead', 'timeout', 500],
      ],
    );
    assert.deepEqual(told.get(idOf(2)), {
      deliveries: [],
      decision: { action: 'notRouted', reason: 'noChannel', untilAt: undefined },
    });
    assert.equal(told.has(idOf(3)), false);
    const takenBack = { ...decision, alert_id: store.dialect.id16(idOf(3)), action: 'cancelled' };
    await store.sql('alert_decisions').insert({ ...takenBack, reason: 'channelDeleted' });
    await store.sql('alert_decisions').insert({ ...takenBack, reason: 'clearedBeforeSent' });
    assert.deepEqual((await listTold(store, [idOf(3)])).get(idOf(3))?.decision, {
      action: 'notRouted',
      reason: 'channelDeleted',
      untilAt: undefined,
    });
    assert.equal((await listTold(store, [])).size, 0);

    const restsUntil = async (): Promise<unknown> =>
      (await listTold(store, [idOf(1)])).get(idOf(1))?.deliveries.map((delivery) => delivery.restsUntil);
    assert.deepEqual(await restsUntil(), [undefined, undefined]);
    const { uid } = await aChannel(store, epoch);
    const rest = { uid: store.dialect.id16(idOf(90)), hold: 'circuit', hold_until: now + 300_000 };
    await store
      .sql('channels')
      .where({ uid: store.dialect.id16(uid) })
      .update(rest);
    assert.deepEqual(await restsUntil(), [now + 300_000, now + 300_000], 'the channel rests after failures');
    await store.sql('channels').update({ hold: 'parked' });
    assert.deepEqual(await restsUntil(), [undefined, undefined], 'a parked one does not wait for a time');
  });
});
