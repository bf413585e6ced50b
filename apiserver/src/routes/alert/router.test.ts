import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AcknowledgeResult, AlertDetail, AlertList } from '@cronjob-monitor/shared/contract';
import { listChanges, putEvidence, recordDecisions } from '@cronjob-monitor/shared/store';
import { addAlert, addChannel, addDelivery } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';

const absent = '019ab2c4-ffff-7000-8000-000000000000';

async function aFleet(options: Parameters<typeof startFleet>[0] = {}): Promise<TestFleet> {
  const fleet = await startFleet(options);
  await fleet.addMonitor({}, [await fleet.addCronJob({ name: 'backup' })]);
  return fleet;
}

test('tells an alert with its messages and why a channel was told or not', async () => {
  await using fleet = await aFleet();
  const channel = await addChannel(fleet);
  const alert = await addAlert(fleet, { severity: 'critical', severitySource: 'override' });
  const delivery = await addDelivery(fleet, channel, { alertId: alert.id, severity: 'critical' });
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordDecisions(tx, [
      { alertId: alert.id, action: 'detected', detail: 'Job backup-1 failed' },
      { alertId: alert.id, action: 'queued', reason: 'firing', deliveryId: delivery.id, channelUid: channel.uid },
      { alertId: alert.id, action: 'occurrence', reason: 'counted' },
      { alertId: alert.id, action: 'occurrence', reason: 'counted' },
    ]),
  );
  const answer = await fleet.ask(`/api/v1/alerts/${alert.id}`);
  assert.equal(answer.status, 200, answer.text);
  const detail = answer.json() as AlertDetail;
  assert.deepEqual(
    [detail.id, detail.severitySource, detail.withheld, detail.logs],
    [alert.id, 'override', false, null],
  );
  assert.deepEqual(
    detail.deliveries.map(({ id, channel: name, channelType, type }) => [id, name, channelType, type]),
    [[delivery.id, 'team-chat', 'chat', 'jobFailed']],
  );
  const now = new Date(testNow).toISOString();
  const entry = { at: now, channel: null, deliveryId: null, by: null };
  assert.deepEqual(detail.timeline, [
    { ...entry, kind: 'detected', reason: null, message: 'Job backup-1 failed' },
    {
      ...entry,
      kind: 'queued',
      reason: 'firing',
      channel: 'team-chat',
      deliveryId: delivery.id,
      message: 'A message to team-chat was made: firing',
    },
    {
      ...entry,
      kind: 'occurrence',
      reason: 'counted',
      message: `It happened again: counted (2 times, last ${now})`,
    },
  ]);
});

test('shows the logs of the run that an alert speaks of', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [backup]);
  const [run] = await fleet.addRuns(backup, { jobName: 'backup-1', status: 'failed' });
  await putEvidence(fleet.store, fleet.epoch, [
    {
      owner: run?.jobUid ?? '',
      kind: 'logs',
      name: 'backup-1-x/main',
      cronJobUid: backup.uid,
      createdAt: testNow,
      capturedAt: testNow,
      body: 'Killed\n',
      truncated: false,
      unavailable: undefined,
    },
  ]);
  const { id } = await addAlert(fleet);
  const { logs } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.deepEqual([logs?.container, logs?.text], ['main', 'Killed\n']);
});

test('says whether anything is kept of the CronJob of an alert', async () => {
  await using fleet = await aFleet();
  const { id } = await addAlert(fleet);
  const isKept = async (): Promise<boolean> =>
    ((await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail).cronjobKept;
  assert.equal(await isKept(), true);
  await fleet.store.sql('cronjobs').where({ name: 'backup' }).update({ deleted_at: testNow });
  assert.equal(await isKept(), false, 'it was deleted, and no run of it is kept');
  assert.equal((await fleet.ask('/api/v1/cronjobs/prod/backup')).status, 404);
});

test('says of an alert that ended before its message went out that one message tells both', async () => {
  await using fleet = await aFleet();
  const channel = await addChannel(fleet);
  const { id } = await addAlert(fleet);
  const of = { alertId: id, channelUid: channel.uid, reason: 'firstNotice' } as const;
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordDecisions(tx, [
      { ...of, action: 'queued' },
      { ...of, action: 'cancelled' },
    ]),
  );
  const { timeline } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.deepEqual(
    timeline.map(({ message }) => message),
    [
      'A message to team-chat was made: it tells that it began and that it is over',
      'Nothing is sent: one message tells that it began and that it is over',
    ],
  );
});

test('knows no alert by a text that is none of its ids', async () => {
  await using fleet = await aFleet();
  for (const id of [absent, 'x', '%00', 'a'.repeat(300)]) {
    const answer = await fleet.ask(`/api/v1/alerts/${id}`);
    assert.deepEqual([answer.status, answer.error().details?.kind], [404, 'Alert'], id);
  }
});

test('takes note of an alert, in place of an earlier note, and tells who follows', async () => {
  await using fleet = await aFleet();
  const { id } = await addAlert(fleet);
  const acknowledge = (body: object): ReturnType<TestFleet['ask']> =>
    fleet.ask(`/api/v1/alerts/${id}/acknowledge`, { method: 'POST', body });
  const first = await acknowledge({});
  assert.equal(first.status, 200, first.text);
  assert.equal((first.json() as AcknowledgeResult).alert.acknowledgement?.by, 'anonymous');
  const expiresAt = new Date(testNow + 3_600_000).toISOString();
  const second = await acknowledge({ by: 'ana', note: 'looking', expiresAt });
  const { success, message, alert } = second.json() as AcknowledgeResult;
  assert.deepEqual([success, message], [true, 'Acknowledged']);
  const at = new Date(testNow).toISOString();
  assert.deepEqual(alert.acknowledgement, { by: 'ana', at, note: 'looking', expiresAt });
  const list = (await fleet.ask('/api/v1/alerts?acknowledged=true')).json() as AlertList;
  assert.equal(list.total, 1);
  const changes = await listChanges(fleet.store, { id: 0, limit: 100 });
  assert.equal(changes.filter(({ kind, data }) => kind === 'alert' && data.id === id).length, 2);

  const { timeline } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.deepEqual(
    timeline.map(({ kind, by, message: says }) => [kind, by, says]),
    [
      ['acknowledged', 'anonymous', 'Acknowledged'],
      ['acknowledged', 'ana', 'Acknowledged: looking'],
    ],
  );
});

test('takes a note back, and says so when there is none', async () => {
  await using fleet = await aFleet();
  const { id } = await addAlert(fleet);
  const path = `/api/v1/alerts/${id}/acknowledge`;
  await fleet.ask(path, { method: 'POST' });
  for (const says of ['The acknowledgement was taken back', 'There was no acknowledgement']) {
    const answer = await fleet.ask(path, { method: 'DELETE' });
    assert.equal(answer.status, 200, answer.text);
    const { message, alert } = answer.json() as AcknowledgeResult;
    assert.deepEqual([message, alert.acknowledgement], [says, null]);
  }
  const { timeline } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.deepEqual(
    timeline.map(({ kind }) => kind),
    ['acknowledged', 'unacknowledged'],
  );
});

test('takes no note of an alert that is not there, and takes none back', async () => {
  await using fleet = await aFleet();
  for (const method of ['POST', 'DELETE']) {
    const path = '/api/v1/alerts/019ab2c4-0000-7000-8000-000000000000/acknowledge';
    const answer = await fleet.ask(path, { method });
    assert.deepEqual([answer.status, answer.error().details?.kind], [404, 'Alert'], method);
  }
});

test('refuses to take note of what has ended', async () => {
  await using fleet = await aFleet();
  const { id } = await addAlert(fleet, { state: 'resolved', endedAt: testNow });
  for (const method of ['POST', 'DELETE']) {
    const answer = await fleet.ask(`/api/v1/alerts/${id}/acknowledge`, { method });
    const { code, details } = answer.error();
    assert.deepEqual([answer.status, code, details?.state], [409, 'ALERT_ENDED', 'resolved'], method);
  }
});

/** A body, and the field it is refused for. */
const refused = [
  [{ note: 'x'.repeat(501) }, 'note'],
  [{ note: null }, 'note'],
  [{ by: '' }, 'by'],
  [{ by: 'x'.repeat(101) }, 'by'],
  [{ expiresAt: '2026-11-20' }, 'expiresAt'],
  [{ expiresAt: 'soon' }, 'expiresAt'],
  [{ until: '2026-12-20' }, 'until'],
] as const;

test('names what is wrong with a note, and nothing has happened', async () => {
  await using fleet = await aFleet();
  const { id } = await addAlert(fleet);
  for (const [body, field] of refused) {
    const answer = await fleet.ask(`/api/v1/alerts/${id}/acknowledge`, { method: 'POST', body });
    assert.equal(answer.status, 400, JSON.stringify(body));
    assert.equal(answer.error().details?.problems?.[0]?.field, field);
  }
  const { timeline } = (await fleet.ask(`/api/v1/alerts/${id}`)).json() as AlertDetail;
  assert.deepEqual(timeline, []);
});

test('changes nothing while it is read-only', async () => {
  await using fleet = await aFleet({ settings: { readOnly: true } });
  const { id } = await addAlert(fleet);
  const answer = await fleet.ask(`/api/v1/alerts/${id}/acknowledge`, { method: 'POST' });
  assert.deepEqual([answer.status, answer.error().code], [403, 'READ_ONLY']);
});

test('names the alert of a parent that holds its message back, to who may read that one', async () => {
  const cluster = new ReviewingCluster()
    .grant('both', 'list cronjobs in prod', 'list cronjobs in etl')
    .grant('one', 'list cronjobs in prod');
  await using fleet = await aFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  await fleet.addMonitor({ name: 'etl' }, [await fleet.addCronJob({ namespace: 'etl', name: 'load' })]);
  const channel = await addChannel(fleet, { name: 'team-data' });
  const parent = await addAlert(fleet, { namespace: 'etl', cronJobName: 'load' });
  await addDelivery(fleet, channel, { alertId: parent.id }, { state: 'sent' });
  const child = await addAlert(fleet);
  await fleet.store.fenced(fleet.epoch, (tx) =>
    recordDecisions(tx, [{ alertId: child.id, action: 'held', reason: 'dependsOn', detail: parent.id }]),
  );
  const ask = async (token: string): Promise<AlertDetail> => {
    const answer = await fleet.ask(`/api/v1/alerts/${child.id}`, { headers: { Authorization: `Bearer ${token}` } });
    assert.equal(answer.status, 200, answer.text);
    return answer.json() as AlertDetail;
  };
  const { told, waitsFor, verdict } = await ask('both');
  assert.deepEqual([told.state, told.reason], ['held', 'dependsOn']);
  assert.deepEqual(
    verdict?.holds.map(({ words }) => words),
    ['Already told'],
  );
  assert.deepEqual(waitsFor, {
    id: parent.id,
    cronjob: { namespace: 'etl', name: 'load' },
    type: 'jobFailed',
    since: new Date(parent.sinceAt).toISOString(),
    channels: ['team-data'],
  });
  const { told: heldFor, waitsFor: hidden } = await ask('one');
  assert.deepEqual([heldFor.reason, hidden], ['dependsOn', null]);
  await fleet.store.sql('alerts').where({ state: 'active', namespace: 'etl' }).update({ state: 'resolved' });
  assert.equal((await ask('both')).waitsFor, null, 'it is over');
});
