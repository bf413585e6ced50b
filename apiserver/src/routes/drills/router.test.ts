import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcknowledgedDrill, ChannelDetail, Drill, DrillList } from '@cronjob-monitor/shared/contract';
import { findDelivery, moveDrills, takeEpoch } from '@cronjob-monitor/shared/store';
import { addChannel } from '../../testing/alerts.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const path = '/api/v1/channels/team-chat';
const post = (fleet: TestFleet, to: string, body?: unknown) =>
  fleet.ask(to, {
    method: 'POST',
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });

/** Begins a drill, and reads the key that its message holds. */
async function drilled(fleet: TestFleet): Promise<{ drill: Drill; key: string }> {
  const answer = await post(fleet, `${path}/drill`);
  assert.equal(answer.status, 200, answer.text);
  const drill = answer.json() as Drill;
  const [row] = await fleet.store.sql('deliveries').where({ kind: 'drill' }).orderBy('id', 'desc').select('payload');
  const key = /key=([0-9a-f]{32})/.exec(String(row?.payload))?.[1];
  assert.ok(key !== undefined && !answer.text.includes(key), 'the answer holds no key');
  return { drill, key };
}

test('a drill begins by hand, waits, is proved by its link, and is listed', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  assert.equal(drill.outcome, 'waiting');
  assert.equal((await findDelivery(fleet.store, drill.deliveryId))?.kind, 'drill');
  const to = `/api/v1/drills/${drill.id}/acknowledge`;
  const proved = await post(fleet, to, { key, by: 'ana\u202e' });
  assert.equal(proved.status, 200, proved.text);
  assert.equal((proved.json() as AcknowledgedDrill).ackedBy, 'ana', 'no character turns what others read');
  const again = await post(fleet, to, { key, by: 'ben' });
  assert.deepEqual([again.status, again.json()], [200, proved.json()], 'twice is one proof');
  const epoch = await takeEpoch(fleet.store, 'leader');
  await fleet.store.fenced(epoch, (tx) => moveDrills(tx));
  const list = (await fleet.ask(`${path}/drills`)).json() as DrillList;
  assert.deepEqual(
    list.items.map(({ outcome, ackedBy }) => [outcome, ackedBy]),
    [['proved', 'ana']],
  );
  const detail = (await fleet.ask(path)).json() as ChannelDetail;
  assert.equal(detail.proved?.by, 'ana');
  const condition = detail.conditions.find(({ type }) => type === 'Proved');
  assert.deepEqual([condition?.status, condition?.reason], ['True', 'Acknowledged']);
});

for (const { by, stored } of [
  { by: '  ', stored: null },
  { by: 'ana\r\n::error::\u0000', stored: 'ana ::error::' },
  { by: '<img src=x onerror=alert(1)>', stored: '<img src=x onerror=alert(1)>' },
  { by: '\u2067ana\u2069', stored: 'ana' },
  { by: '\u200b \u200d', stored: null },
  { by: '{{ .Secret }}', stored: '{{ .Secret }}' },
])
  test(`a name such as ${JSON.stringify(by)} is one plain line wherever others read it`, async () => {
    await using fleet = await startFleet();
    await addChannel(fleet);
    const { drill, key } = await drilled(fleet);
    const answer = await post(fleet, `/api/v1/drills/${drill.id}/acknowledge`, { key, by });
    assert.equal((answer.json() as AcknowledgedDrill).ackedBy, stored, answer.text);
    const epoch = await takeEpoch(fleet.store, 'leader');
    await fleet.store.fenced(epoch, (tx) => moveDrills(tx));
    const list = (await fleet.ask(`${path}/drills`)).json() as DrillList;
    const detail = (await fleet.ask(path)).json() as ChannelDetail;
    assert.deepEqual([list.items[0]?.ackedBy, detail.proved?.by], [stored, stored]);
    const { message = '' } = detail.conditions.find(({ type }) => type === 'Proved') ?? {};
    assert.doesNotMatch(message, /[\p{Cc}\p{Cf}]/u);
  });

test('a name of more than 100 characters is refused, and the link stays valid', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  const to = `/api/v1/drills/${drill.id}/acknowledge`;
  assert.equal((await post(fleet, to, { key, by: 'a'.repeat(101) })).status, 400);
  assert.equal((await post(fleet, to, { key, by: 'a'.repeat(100) })).status, 200);
});

test('no list of drills or messages holds the key: who may read a channel cannot prove it by that', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  for (const asked of [
    path,
    `${path}/drills`,
    '/api/v1/channels',
    '/api/v1/deliveries',
    '/api/v1/deliveries?kind=drill',
  ]) {
    const { status, text } = await fleet.ask(asked);
    assert.equal(status, 200, text);
    assert.ok(!text.includes(key), asked);
  }
  const log = JSON.stringify((await post(fleet, `/api/v1/drills/${drill.id}/acknowledge`, { key }), fleet.lines));
  assert.ok(!log.includes(key), 'nor does the log');
});

test('a GET of the link proves nothing', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  for (const to of [`/api/v1/drills/${drill.id}/acknowledge?key=${key}`, `/drills/${drill.id}?key=${key}`])
    await fleet.ask(to);
  const [row] = await fleet.store.sql('drills').select('outcome');
  assert.equal(row?.outcome, 'waiting');
});

test('a wrong key and an unknown drill are the same 404, and only some are tried a minute', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  const unknown = '019a5b3c-8000-7000-8000-0000000d2111';
  const told = async (id: string) => {
    const { status, text } = await post(fleet, `/api/v1/drills/${id}/acknowledge`, { key: '0'.repeat(32) });
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return [status, error.code, error.message.replace(id, '<id>')];
  };
  assert.deepEqual(await told(drill.id), await told(unknown));
  assert.equal((await told(drill.id))[0], 404);
  for (let tries = 2; tries < 10; tries++) assert.equal((await told(drill.id))[0], 404);
  assert.equal((await told(drill.id))[0], 429);
  assert.equal((await post(fleet, `/api/v1/drills/${drill.id}/acknowledge`, { key })).status, 429);
});

test('after its time the link is over: 409', async () => {
  await using fleet = await startFleet();
  await addChannel(fleet);
  const { drill, key } = await drilled(fleet);
  await fleet.store.sql('drills').update({ outcome: 'reached' });
  const answer = await post(fleet, `/api/v1/drills/${drill.id}/acknowledge`, { key });
  assert.equal(answer.status, 409, answer.text);
});

test('a drill of a channel that there is not is 404', async () => {
  await using fleet = await startFleet();
  assert.equal((await post(fleet, `${path}/drill`)).status, 404);
  assert.equal((await fleet.ask(`${path}/drills`)).status, 404);
});
