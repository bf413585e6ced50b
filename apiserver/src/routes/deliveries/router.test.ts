import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeliveryPage, RedriveResult } from '@cronjob-monitor/shared/contract';
import { addAlert, addChannel, addDelivery } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet } from '../../testing/fleet.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/deliveries';
const iso = (at: number): string => new Date(at).toISOString();

test('tells a delivery with what it was about and why it failed', async () => {
  await using fleet = await startFleet();
  await fleet.addMonitor({}, [await fleet.addCronJob({ name: 'backup' })]);
  const channel = await addChannel(fleet);
  const alert = await addAlert(fleet);
  const error = { category: 'unauthorized', message: 'It answered 401', httpStatus: 401, at: testNow };
  const { id } = await addDelivery(
    fleet,
    channel,
    { alertId: alert.id },
    { state: 'parked', attempts: 2, next_at: null, last_error: JSON.stringify(error), http_status: 401 },
  );
  assert.deepEqual((await fleet.ask(path)).json(), {
    items: [
      {
        id,
        alertId: alert.id,
        kind: 'firing',
        state: 'parked',
        channel: 'team-chat',
        channelType: 'chat',
        severity: 'warning',
        type: 'jobFailed',
        cronjob: { namespace: 'prod', name: 'backup' },
        attempts: 2,
        createdAt: iso(testNow),
        expiresAt: iso(testNow + 24 * hourMs),
        sentAt: null,
        nextAttemptAt: null,
        stateReason: null,
        lastError: { ...error, at: iso(testNow) },
        mergedInto: null,
      },
    ],
    pagination: { total: 1, limit: 50, offset: 0, hasMore: false },
  });
});

test('filters by all that a delivery is known by', async () => {
  await using fleet = await startFleet();
  await fleet.addMonitor({}, [await fleet.addCronJob({ name: 'backup' })]);
  const [chat, mail] = [await addChannel(fleet), await addChannel(fleet, { name: 'mail', type: 'email', spec: {} })];
  const alert = await addAlert(fleet);
  const about = await addDelivery(fleet, chat, { alertId: alert.id, createdAt: testNow - hourMs });
  const tested = await addDelivery(fleet, mail, { kind: 'test', severity: 'info' }, { state: 'sent' });
  const find = async (query: string): Promise<readonly string[]> =>
    ((await fleet.ask(path + query)).json() as DeliveryPage).items.map(({ id }) => id);
  assert.deepEqual(await find(''), [tested.id, about.id], 'the newest first');
  assert.deepEqual(await find('?sort=createdAt'), [about.id, tested.id]);
  assert.deepEqual(await find('?channel=mail'), [tested.id]);
  assert.deepEqual(await find('?state=ready,claimed'), [about.id]);
  assert.deepEqual(await find('?kind=test'), [tested.id]);
  assert.deepEqual(await find('?namespace=prod'), [about.id]);
  assert.deepEqual(await find(`?alert=${alert.id}`), [about.id]);
  assert.deepEqual(await find('?alert=x'), []);
  assert.deepEqual(await find(`?since=${iso(testNow)}`), [tested.id]);
  assert.deepEqual(await find(`?until=${iso(testNow)}`), [about.id]);
  const refused = await fleet.ask(`${path}?since=2026-11-21&until=2026-11-20`);
  assert.deepEqual([refused.status, refused.error().details?.problems?.[0]?.field], [400, 'since']);
});

test('sends again what was given up or is parked, once', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  for (const state of ['dead', 'parked']) {
    const { id } = await addDelivery(fleet, channel, {}, { state, next_at: null });
    const redrive = async (): Promise<RedriveResult> =>
      (await fleet.ask(`${path}/${id}/redrive`, { method: 'POST' })).json() as RedriveResult;
    const first = await redrive();
    assert.deepEqual([first.success, first.changed, first.delivery.state], [true, true, 'ready'], state);
    const second = await redrive();
    assert.deepEqual([second.success, second.changed], [true, false], state);
  }
});

test('refuses to send again what was sent, and what is no longer kept', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  for (const row of [{ state: 'sent' }, { state: 'cancelled' }, { state: 'dead', payload: null }]) {
    const { id } = await addDelivery(fleet, channel, {}, row);
    const answer = await fleet.ask(`${path}/${id}/redrive`, { method: 'POST' });
    const { code, details } = answer.error();
    assert.deepEqual([answer.status, code, details?.state], [409, 'NOT_REDRIVABLE', row.state]);
  }
  for (const id of ['x', '019ab2c4-ffff-7000-8000-000000000000']) {
    const answer = await fleet.ask(`${path}/${id}/redrive`, { method: 'POST' });
    assert.deepEqual([answer.status, answer.error().details?.kind], [404, 'Delivery'], id);
  }
});
