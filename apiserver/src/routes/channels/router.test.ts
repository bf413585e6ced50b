import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelDetail, ChannelList, ChannelTestResult } from '@cronjob-monitor/shared/contract';
import { beat, claimDeliveries, settleDelivery, type Settlement } from '@cronjob-monitor/shared/store';
import { addChannel, addDelivery } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const path = '/api/v1/channels';
const iso = (at: number): string => new Date(at).toISOString();

test('lists channels with what was sent and what waits', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  await addDelivery(fleet, channel);
  await addDelivery(fleet, channel, {}, { state: 'dead' });
  const routed = { alerting: { channelRefs: [{ name: 'team-chat', severities: [] }, { name: 'team-chat' }] } };
  await fleet.addMonitor({ spec: routed }, []);
  await fleet.store.sql('channels').update({
    sent_total: 212,
    failed_total: 3,
    last_sent_at: testNow,
    last_test_at: testNow,
    last_test: '{"success":true,"message":""}',
  });
  const answer = await fleet.ask(path);
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(answer.json(), {
    items: [
      {
        name: 'team-chat',
        type: 'chat',
        ready: true,
        reason: 'Validated',
        message: '',
        config: { format: 'slack', channel: '#ops' },
        stats: {
          alertsSentTotal: 212,
          alertsFailedTotal: 3,
          consecutiveFailures: 0,
          lastAlertTime: iso(testNow),
          lastFailedTime: null,
          lastFailedError: null,
        },
        lastTest: { time: iso(testNow), result: 'success', message: '' },
        proved: null,
        missedDrill: false,
        queued: 1,
        parked: 0,
        dead: 1,
        monitorCount: 1,
      },
    ],
    summary: { total: 1, ready: 1, notReady: 0 },
  });
});

test('filters, sorts and pages channels', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet, { name: 'b', ready: false, reason: 'InvalidSpec' });
  await addChannel(fleet, { name: 'a', type: 'webhook', spec: {} });
  await addChannel(fleet, { name: 'c' });
  const find = async (query: string): Promise<readonly string[]> =>
    ((await fleet.ask(path + query)).json() as ChannelList).items.map(({ name }) => name);
  assert.deepEqual(await find(''), ['a', 'b', 'c']);
  assert.deepEqual(await find('?type=chat'), ['b', 'c']);
  assert.deepEqual(await find('?ready=false'), ['b']);
  assert.deepEqual(await find('?sort=-ready'), ['a', 'c', 'b']);
  assert.deepEqual(await find('?sort=type&limit=1&offset=2'), ['a']);
});

test('says no format of a chat whose spec cannot be used: nothing is known of it', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet, { name: 'rooms', ready: false, reason: 'InvalidSpec', spec: undefined });
  const [listed] = ((await fleet.ask(path)).json() as ChannelList).items;
  assert.deepEqual(listed?.config, { format: null, channel: null });
  const detail = (await fleet.ask(`${path}/rooms`)).json() as { readonly config: object };
  assert.deepEqual(detail.config, {
    webhookSecretRef: null,
    format: null,
    defaultChannel: null,
    messageTemplate: null,
  });
});

test('tells the whole block of a channel, and nothing of a Secret', async () => {
  await using fleet = await startFleet();
  const urlSecretRef = { name: 'hooks', namespace: 'ops', key: 'url' };
  const channel = await addChannel(fleet, {
    name: 'hooks',
    type: 'webhook',
    ready: false,
    reason: 'SecretNotFound',
    message: 'there is no Secret ops/hooks',
    readyChangedAt: testNow - 60_000,
    spec: { webhook: { urlSecretRef, method: 'POST', headers: { 'X-Team': 'hunter2' }, password: 'hunter2' } },
  });
  const { id } = await addDelivery(fleet, channel);
  const answer = await fleet.ask(`${path}/hooks`);
  assert.equal(answer.status, 200, answer.text);
  assert.doesNotMatch(answer.text, /hunter2/);
  const detail = answer.json() as ChannelDetail;
  assert.deepEqual(detail.config, {
    urlSecretRef: { ...urlSecretRef, usable: false },
    method: 'POST',
    headers: { 'X-Team': '***' },
    payloadTemplate: null,
    signingSecretRef: null,
    sendUpdates: false,
    format: 'standard',
    readSilences: true,
  });
  assert.deepEqual(
    [detail.rateLimiting, detail.sendResolved, detail.uid, detail.conditions[0]?.status],
    [{ maxAlertsPerHour: 100, burstLimit: 10 }, true, channel.uid, 'False'],
  );
  assert.equal(detail.conditions[0]?.lastTransitionTime, new Date(testNow - 60_000).toISOString());
  assert.deepEqual(
    detail.recentDeliveries.map((delivery) => delivery.id),
    [id],
  );
});

test('knows no channel by a name that none has', async () => {
  await using fleet = await startFleet();
  for (const [name, method] of [
    ['never', 'GET'],
    ['%2F', 'GET'],
    ['never/test', 'POST'],
  ] as const) {
    const answer = await fleet.ask(`${path}/${name}`, { method });
    assert.deepEqual([answer.status, answer.error().details?.kind], [404, 'AlertChannel'], name);
  }
});

test('says at once that no test is sent while no controller leads', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const answer = await fleet.ask(`${path}/team-chat/test`, { method: 'POST' });
  const { success, category, deliveryId } = answer.json() as ChannelTestResult;
  assert.deepEqual([answer.status, success, category], [200, false, 'noController']);
  assert.match(deliveryId, /^[0-9a-f-]{36}$/);
});

async function aLeader(fleet: TestFleet): Promise<void> {
  await beat(fleet.store, {
    holder: 'controller-0_x',
    version: '0.1.0',
    leading: true,
    epoch: fleet.epoch,
    startedAt: testNow,
    beatAt: testNow,
    schedulers: [],
    evaluatedAt: testNow,
    figures: {},
  });
}

/** What the controller does with the test, once it finds it; true: it did. */
async function settleTest(fleet: TestFleet, settlement: Settlement): Promise<boolean> {
  const { store, epoch } = fleet;
  return store.fenced(epoch, async (tx) => {
    const claimed = await claimDeliveries(tx, {
      claimedBy: 'pod/boot',
      onlyTests: true,
      room: 8,
      roomOn: () => 8,
      fullChannels: [],
      globalLimit: { periodMs: 1, burst: 100 },
      limitOf: () => ({ maxPerHour: 100, burst: 10 }),
    });
    const [first] = claimed;
    if (!first) return false;
    await settleDelivery(tx, { deliveryId: first.id, claimedBy: 'pod/boot', settlement });
    return true;
  });
}

/** Lets time pass until the answer is there. */
async function answered(fleet: TestFleet, asked: ReturnType<TestFleet['ask']>): ReturnType<TestFleet['ask']> {
  const ended = asked.then(() => true);
  for (let turn = 0; !(await Promise.race([ended, fleet.clock.advance(250).then(() => false)])); turn += 1) {
    assert.ok(turn < 10_000, 'it does not answer');
  }
  return asked;
}

/** What became of the test, and what its caller is told. */
const outcomes: readonly (readonly [Settlement, Partial<ChannelTestResult>])[] = [
  [
    { kind: 'delivered', httpStatus: 202 },
    { success: true, category: null, httpStatus: 202 },
  ],
  [
    {
      kind: 'failed',
      next: 'park',
      error: { category: 'unauthorized', message: 'It answered 401', httpStatus: 401 },
      maybeSent: false,
    },
    { success: false, category: 'unauthorized', httpStatus: 401, message: 'It answered 401' },
  ],
  [
    {
      kind: 'failed',
      next: 'retry',
      nextAt: testNow + 60_000,
      error: { category: 'timeout', message: 'no answer within 15s', httpStatus: null },
      maybeSent: true,
    },
    { success: false, category: 'timeout', httpStatus: null },
  ],
];

test('tells what became of a test that the controller sent', async () => {
  for (const [settlement, expected] of outcomes) {
    await using fleet = await startFleet();
    await addChannel(fleet);
    await aLeader(fleet);
    const asked = fleet.ask(`${path}/team-chat/test`, { method: 'POST' });
    for (let turn = 0; !(await settleTest(fleet, settlement)); turn += 1) {
      assert.ok(turn < 10_000, 'the test was never left for the controller');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const result = (await answered(fleet, asked)).json() as ChannelTestResult;
    assert.deepEqual({ ...result, ...expected }, result, JSON.stringify(settlement));
  }
});

test('says that nothing is known when the controller does not send in time', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  await aLeader(fleet);
  const asked = fleet.ask(`${path}/team-chat/test`, { method: 'POST' });
  const { success, category } = (await answered(fleet, asked)).json() as ChannelTestResult;
  assert.deepEqual([success, category], [false, 'waitExceeded']);
});
