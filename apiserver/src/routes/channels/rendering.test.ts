import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChannelDetail, ChannelRendering } from '@cronjob-monitor/shared/contract';
import { headingOf, type Message, hourMs } from '@cronjob-monitor/shared/domain';
import {
  claimDeliveries,
  settleDelivery,
  type ChannelProjection,
  type Settlement,
} from '@cronjob-monitor/shared/store';
import { aDrillMessage, anAlertMessage } from '@cronjob-monitor/shared/testing';
import { addAlert, addChannel, addDelivery } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';

const path = '/api/v1/channels/team-chat';
const hostile = '"><script>alert(1)</script> password=hunter2 <!channel>';

async function sent(fleet: TestFleet, channel: ChannelProjection, message: Message, alertId?: string): Promise<string> {
  const payload = { message, heading: headingOf(message), place: null };
  return (await addDelivery(fleet, channel, { alertId, payload, kind: message.kind })).id;
}

async function rendering(fleet: TestFleet, headers?: Record<string, string>): Promise<ChannelRendering> {
  const answer = await fleet.ask(`${path}/rendered`, headers ? { headers } : {});
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as ChannelRendering;
}

test('shows the newest message and an example as the channel sends them, redacted', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  const { newest: none, example } = await rendering(fleet);
  assert.equal(none, null);
  assert.match(example?.text ?? '', /example\/nightly[^]*nothing has happened/);
  const data = anAlertMessage({ alert: { message: hostile }, context: { logs: hostile } });
  const id = await sent(fleet, channel, { kind: 'firing', data });
  const { newest } = await rendering(fleet);
  assert.deepEqual([newest?.deliveryId, newest?.format, newest?.html], [id, 'slack', null]);
  assert.ok(newest?.text.includes('"><script>alert(1)</script>'), 'it stays text');
  assert.doesNotMatch(JSON.stringify(newest), /hunter2/);
  assert.doesNotMatch(newest?.body ?? '', /<!channel>/, 'what is sent mentions no channel');
});

test('shows no key of a drill, and nothing of a channel whose spec cannot be used', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  await sent(fleet, channel, { kind: 'drill', data: aDrillMessage() });
  const answer = await fleet.ask(`${path}/rendered`);
  assert.match(answer.text, /press the link/i);
  assert.doesNotMatch(answer.text, /5f3a9c510b2e4d6f8a1c3e5d7f902b4d/);
  await fleet.store.sql('channels').update({ spec: '{}' });
  assert.deepEqual(await rendering(fleet), { newest: null, example: null });
  assert.equal((await fleet.ask('/api/v1/channels/never/rendered')).status, 404);
});

test('shows the newest message of namespaces that its caller may read, and needs the right to read channels', async () => {
  const cluster = new ReviewingCluster()
    .grant('pager', 'list alertchannels', 'list cronjobs in dev')
    .grant('dev', 'list cronjobs in dev');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const channel = await addChannel(fleet);
  await fleet.addMonitor({ spec: {} }, [
    await fleet.addCronJob({ name: 'backup' }),
    await fleet.addCronJob({ namespace: 'dev', name: 'backup' }),
  ]);
  const ofDev = await addAlert(fleet, { namespace: 'dev' });
  const ofProd = await addAlert(fleet, { fingerprint: 'f'.repeat(32), id: '019a5b3c-8000-7000-8000-00000000aa01' });
  const id = await sent(fleet, channel, { kind: 'firing', data: anAlertMessage() }, ofDev.id);
  await sent(fleet, channel, { kind: 'firing', data: anAlertMessage({ alert: { message: 'of prod' } }) }, ofProd.id);
  const { newest } = await rendering(fleet, { Authorization: 'Bearer pager' });
  assert.equal(newest?.deliveryId, id);
  const refused = await fleet.ask(`${path}/rendered`, { headers: { Authorization: 'Bearer dev' } });
  assert.equal(refused.status, 403);
});

test('counts what the receiver answered by the hour, and lists its newest answers with status and time', async () => {
  await using fleet = await startFleet();
  const channel = await addChannel(fleet);
  const claimedBy = 'pod/boot';
  const settle = async (settlement: Settlement, tookMs: number): Promise<void> => {
    const { id: deliveryId } = await addDelivery(fleet, channel);
    await fleet.store.fenced(fleet.epoch, (tx) =>
      claimDeliveries(tx, {
        claimedBy,
        onlyTests: false,
        room: 8,
        roomOn: () => 8,
        fullChannels: [],
        globalLimit: { periodMs: 1, burst: 100 },
        limitOf: () => ({ maxPerHour: 1_000, burst: 100 }),
      }),
    );
    await fleet.store.fenced(fleet.epoch, (tx) => settleDelivery(tx, { deliveryId, claimedBy, settlement, tookMs }));
  };
  await settle({ kind: 'delivered', httpStatus: 200 }, 143);
  const error = { category: 'serverError', message: 'It answered 503', httpStatus: 503 } as const;
  await settle({ kind: 'failed', next: 'dead', error, maybeSent: false }, 1_520);
  const detail = (await fleet.ask(path)).json() as ChannelDetail;
  assert.deepEqual(
    detail.answers.map(({ verdict, httpStatus, ms, category }) => [verdict, httpStatus, ms, category]),
    [
      ['failed', 503, 1_520, 'serverError'],
      ['accepted', 200, 143, null],
    ],
  );
  assert.equal(detail.hours.length, 24);
  assert.deepEqual(detail.hours.at(-1), {
    from: new Date(testNow - (testNow % hourMs)).toISOString(),
    sent: 1,
    failed: 1,
  });
});
