import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { CronJob, Incident, Ref, StreamData, Wall } from '@cronjob-monitor/shared/contract';
import { beat } from '@cronjob-monitor/shared/store';
import { testNow } from '../../testing/api.ts';
import { openEvents } from '../../testing/event-client.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { minuteMs } from '@cronjob-monitor/shared/domain';

const path = '/api/v1/events/stream';

/** Time enough for one look at the changes. */
const look = (fleet: TestFleet) => () => fleet.clock.advance(500);

async function aCronJobOfAMonitor(fleet: TestFleet) {
  const cronJob = await fleet.addCronJob({ name: 'backup' });
  await fleet.addMonitor({}, [cronJob]);
  return cronJob;
}

test('says hello, then tells what changes with its cursor', async () => {
  await using fleet = await startFleet();
  const cronJob = await aCronJobOfAMonitor(fleet);
  const client = await openEvents(fleet.server.port, path);
  assert.equal(client.response.statusCode, 200);
  assert.equal(client.response.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(client.response.headers['content-encoding'], undefined);
  assert.match(String(client.response.headers['cache-control']), /no-store/);
  await client.until(2, look(fleet));
  await fleet.addRuns(cronJob, { createdAt: testNow - minuteMs, status: 'failed' });
  const events = await client.until(4, look(fleet));
  assert.deepEqual(
    events.map(({ event, id }) => [event, id === undefined]),
    [
      ['hello', true],
      ['health', true],
      ['execution', false],
      ['cronjob', false],
    ],
  );
  const [hello, , execution, changed] = events;
  assert.match(client.text(), /^event: hello\nretry: 3000\ndata: /);
  assert.equal(hello?.data['version'], 'v0.1.0');
  assert.ok(Number(execution?.id) > Number(hello?.data['cursor']));
  assert.deepEqual(execution?.data['status'], 'failed');
  assert.deepEqual(
    [changed?.data['name'], changed?.data['status'], changed?.data['state']],
    ['backup', 'warning', 'failing'],
  );
  client.leave();
});

test('tells only the kinds and namespaces that are asked for', async () => {
  await using fleet = await startFleet();
  const cronJob = await aCronJobOfAMonitor(fleet);
  const client = await openEvents(fleet.server.port, `${path}?kinds=execution&namespace=prod`);
  const elsewhere = await openEvents(fleet.server.port, `${path}?kinds=execution&namespace=other`);
  await client.until(1, look(fleet));
  await fleet.addRuns(cronJob, { createdAt: testNow - minuteMs });
  const events = await client.until(2, look(fleet));
  assert.deepEqual(
    events.map(({ event }) => event),
    ['hello', 'execution'],
  );
  assert.equal(elsewhere.events().length, 1);
  client.leave();
  elsewhere.leave();
  assert.equal((await fleet.ask(`${path}?kinds=nonsense`)).status, 400);
});

test('resumes after the cursor of a client that comes back', async () => {
  await using fleet = await startFleet();
  const cronJob = await aCronJobOfAMonitor(fleet);
  const first = await openEvents(fleet.server.port, `${path}?kinds=execution`);
  await first.until(1, look(fleet));
  await fleet.addRuns(cronJob, { createdAt: testNow - 2 * minuteMs, jobName: 'one' });
  const cursor = (await first.until(2, look(fleet)))[1]?.id ?? '';
  first.leave();
  await fleet.clock.advance(6_000); // what it has seen is settled
  await fleet.addRuns(cronJob, { createdAt: testNow - minuteMs, jobName: 'two' });
  const second = await openEvents(fleet.server.port, `${path}?kinds=execution`, { 'Last-Event-ID': cursor });
  const events = await second.until(2, look(fleet));
  assert.deepEqual(
    events.map(({ event, data }) => [event, data['jobName']]),
    [
      ['hello', undefined],
      ['execution', 'two'],
    ],
  );
  second.leave();
});

/** A Last-Event-ID that is none of ours, or of which too much is gone. */
for (const lastEventId of ['nonsense', '999999', '-1']) {
  test(`asks a client with the cursor ${lastEventId} to read all again`, async () => {
    await using fleet = await startFleet();
    await aCronJobOfAMonitor(fleet);
    const client = await openEvents(fleet.server.port, path, { 'Last-Event-ID': lastEventId });
    const [, second] = await client.until(2, look(fleet));
    assert.deepEqual([second?.event, second?.data], ['resync', { reason: 'cursorTooOld' }]);
    client.leave();
  });
}

test('asks a client that missed more than a thousand changes to read all again', async () => {
  await using fleet = await startFleet();
  const change = { at: testNow, kind: 'silence', data: '{"id":"x","state":"active"}' };
  const rows = Array.from({ length: 400 }, () => change);
  for (let batch = 0; batch < 3; batch += 1) await fleet.store.sql('changes').insert(rows);
  const client = await openEvents(fleet.server.port, path, { 'Last-Event-ID': '1' });
  const [, second] = await client.until(2, look(fleet));
  assert.deepEqual(second?.data, { reason: 'tooManyChanges' });
  const less = await openEvents(fleet.server.port, `${path}?kinds=silence`, { 'Last-Event-ID': '200' });
  const events = await less.until(1_001, look(fleet));
  assert.ok(events.length >= 1_001);
  assert.equal(events.at(-1)?.id, '1200');
  const carrying = await openEvents(fleet.server.port, `${path}?carry=rows`, { 'Last-Event-ID': '1' });
  const all = await carrying.until(1_200, look(fleet));
  assert.ok(!all.some(({ event }) => event === 'resync'), 'a stream that is opened anew for other rows goes on');
  client.leave();
  less.leave();
  carrying.leave();
});

test('gives a change that commits after later ones, once', async () => {
  await using fleet = await startFleet();
  const insert = (id: number) =>
    fleet.store.sql('changes').insert({ id, at: fleet.clock.now(), kind: 'silence', data: JSON.stringify({ id }) });
  await insert(10);
  const client = await openEvents(fleet.server.port, `${path}?kinds=silence`);
  await client.until(1, look(fleet));
  await insert(12);
  await client.until(2, look(fleet));
  await insert(11);
  await client.until(3, look(fleet));
  await fleet.clock.advance(6_000);
  await insert(13);
  const events = await client.until(4, look(fleet));
  assert.deepEqual(
    events.map(({ id }) => id),
    [undefined, '12', '11', '13'],
  );
  client.leave();
});

test('pings, and tells health on a change and every 30 s', async () => {
  await using fleet = await startFleet();
  const client = await openEvents(fleet.server.port, `${path}?kinds=health`);
  await client.until(2, look(fleet));
  assert.equal(client.events()[1]?.data['status'], 'degraded');
  await beat(fleet.store, {
    holder: 'controller-0_x',
    version: 'v0.1.0',
    leading: true,
    epoch: fleet.epoch,
    startedAt: testNow,
    beatAt: fleet.clock.now(),
    schedulers: [],
    evaluatedAt: undefined,
    figures: {},
  });
  const events = await client.until(3, look(fleet));
  assert.equal(events[2]?.data['status'], 'healthy');
  await fleet.clock.advance(31_000);
  await client.until(4, look(fleet));
  assert.match(client.text(), /\n: ping\n/);
  client.leave();
});

test('takes no more streams than allowed, and counts them down again', async () => {
  await using fleet = await startFleet({ settings: { maxStreams: 1 } });
  const client = await openEvents(fleet.server.port, path);
  const refused = await fleet.ask(path);
  assert.equal(refused.status, 503);
  assert.equal(refused.error().code, 'TOO_MANY_STREAMS');
  assert.equal(refused.headers['retry-after'], '5');
  assert.match(await fleet.registry.metrics(), /cronjob_monitor_api_streams 1/);
  client.leave();
  for (let turn = 0; turn < 100; turn += 1) {
    if (/cronjob_monitor_api_streams 0/.test(await fleet.registry.metrics())) break;
    await fleet.clock.advance(0);
  }
  assert.match(await fleet.registry.metrics(), /cronjob_monitor_api_streams 0/);
  assert.doesNotMatch(await fleet.registry.metrics(), /route="\/api\/v1\/events\/stream",status="200"/);
});

test('a stopping process ends its streams and says when to come back', async () => {
  await using fleet = await startFleet();
  const client = await openEvents(fleet.server.port, path);
  await client.until(1, look(fleet));
  await fleet.api.stop();
  for (let turn = 0; turn < 100 && !client.ended(); turn += 1) await fleet.clock.advance(0);
  assert.match(client.text(), /retry: 3000\n\n$/);
  assert.equal(client.ended(), true);
});

test('carries the rows that are named and the overview, each at its own pace, and leaves out hints of other CronJobs', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  const etl = await fleet.addCronJob({ name: 'etl' });
  await fleet.addMonitor({}, [backup, etl]);
  const client = await openEvents(fleet.server.port, `${path}?carry=overview,rows&refs=prod/backup`);
  await client.until(2, look(fleet));
  for (let run = 0; run < 20; run++) {
    const failed = { createdAt: testNow - (run + 1) * minuteMs, status: 'failed' } as const;
    await fleet.addRuns(etl, failed);
    if (run === 0) await fleet.addRuns(backup, failed);
  }
  const kinds = (): string[] => client.events().map(({ event }) => event);
  await client.until(6, look(fleet));
  for (let turn = 0; turn < 20; turn++) await look(fleet)();
  assert.deepEqual(kinds().toSorted(), ['cronjob', 'execution', 'health', 'hello', 'overview', 'row']);
  const row = client.events().find(({ event }) => event === 'row');
  assert.equal(row?.id, undefined, 'it is no place to resume after: the counts wait for their turn');
  const carriedRow = row?.data['row'] as CronJob;
  assert.deepEqual([carriedRow.name, carriedRow.verdict.state], ['backup', 'failing']);
  assert.ok(carriedRow.recentRuns);
  const told = client.events().find(({ event }) => event === 'overview');
  const overview = told?.data as unknown as StreamData['overview'];
  const hints = client
    .events()
    .flatMap(({ event, id }) => (event === 'cronjob' || event === 'execution' ? Number(id) : []));
  assert.ok(
    Number(told?.id) > Math.max(...hints),
    'nothing waits any more: a reader that comes back after it missed nothing',
  );
  assert.ok(Number(told?.id) <= Number(overview.revision));
  assert.equal(overview.stats.states.failing, 2);
  assert.deepEqual(Object.keys(overview), ['revision', 'stats'], 'who shows more asks for it');
  assert.ok(Number(overview.revision) >= 21);
  client.leave();
});

test('carries incidents: all of them first, then those alone that come, change, move or go', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  const etl = await fleet.addCronJob({ name: 'etl' });
  await fleet.addMonitor({}, [backup, etl]);
  const failed = (minutes: number) => ({ createdAt: testNow - minutes * minuteMs, status: 'failed' }) as const;
  await fleet.addRuns(backup, failed(9));
  const client = await openEvents(fleet.server.port, `${path}?carry=overview,incidents`);
  await client.until(1, look(fleet));
  const told = (): string[] =>
    client.events().flatMap(({ event, data }): string[] => {
      if (event === 'overview') return [`${String(data['headline'])}, ${String(data['incidentTotal'])} in all`];
      if (event !== 'incident') return [];
      const { rank, row, removed } = data as { rank?: number; row?: Incident; removed?: Ref };
      return [removed ? `without ${removed.name}` : `${rank} ${row?.cronjob.name}`];
    });
  const heard = async (count: number): Promise<string[]> => {
    for (let turn = 0; turn < 60 && told().length < count; turn++) await look(fleet)();
    return told();
  };
  await fleet.addRuns(etl, failed(20));
  const first = await heard(3);
  assert.deepEqual(first, ['0 etl', '1 backup', '2 failing: etl, backup, 2 in all']);
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs });
  const second = (await heard(5)).slice(first.length);
  assert.deepEqual(
    second,
    ['without backup', '1 failing: etl, 1 in all'],
    'of what stays as it is nothing is said again',
  );
  client.leave();
  const refused = await fleet.ask(`${path}?carry=incidents`);
  assert.equal(refused.error().details?.problems?.[0]?.field, 'carry');
});

test('streams that were opened at different moments tell the overview at the same one: it is read once for all', async () => {
  await using fleet = await startFleet();
  const backup = await aCronJobOfAMonitor(fleet);
  const first = await openEvents(fleet.server.port, `${path}?carry=overview,incidents`);
  await first.until(1, look(fleet));
  for (let turn = 0; turn < 3; turn++) await look(fleet)();
  const second = await openEvents(fleet.server.port, `${path}?carry=overview,incidents`);
  await second.until(1, look(fleet));
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs, status: 'failed' });
  const both = [first, second];
  const heard = (): boolean[] => both.map((client) => client.events().some(({ event }) => event === 'overview'));
  for (let turn = 0; turn < 60 && !heard().includes(true); turn++) await look(fleet)();
  // Time stands still while the bytes of the other travel.
  for (let turn = 0; turn < 500 && heard().includes(false); turn++) await wait(2);
  assert.deepEqual(heard(), [true, true]);
  for (const client of both) client.leave();
});

test('carries no row of a namespace that its reader may not see, and no line of a log that it may not read', async () => {
  const cluster = new ReviewingCluster().grant('ana', 'list cronjobs in prod');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const seen = await fleet.addCronJob({ name: 'backup' });
  const foreign = await fleet.addCronJob({ namespace: 'dev', name: 'secret' });
  await fleet.addMonitor({}, [seen, foreign]);
  const ana = { authorization: 'Bearer ana' };
  const client = await openEvents(fleet.server.port, `${path}?carry=rows&refs=prod/backup,dev/secret`, ana);
  await client.until(2, look(fleet));
  for (const cronJob of [foreign, seen])
    await fleet.addRuns(cronJob, { createdAt: testNow - minuteMs, status: 'failed' });
  await client.until(5, look(fleet));
  for (let turn = 0; turn < 10; turn++) await look(fleet)();
  assert.ok(!client.text().includes('secret'), client.text());
  const rows = client.events().filter(({ event }) => event === 'row');
  assert.deepEqual(
    rows.map(({ data }) => (data['row'] as CronJob).name),
    ['backup'],
  );
  client.leave();
});

test('carries the page of a CronJob with the runs that ended since the message before, and no row', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  const etl = await fleet.addCronJob({ name: 'etl' });
  await fleet.addMonitor({}, [backup, etl]);
  await fleet.addRuns(backup, { createdAt: testNow - 9 * minuteMs, jobName: 'backup-1' });
  const client = await openEvents(fleet.server.port, `${path}?carry=overview,runs&refs=prod/backup`);
  await client.until(2, look(fleet));
  const told = (): StreamData['run'][] =>
    client.events().flatMap(({ event, data }) => (event === 'run' ? [data as unknown as StreamData['run']] : []));
  const heard = async (count: number): Promise<StreamData['run'] | undefined> => {
    for (let turn = 0; turn < 60 && told().length < count; turn++) await look(fleet)();
    return told()[count - 1];
  };
  await fleet.addRuns(etl, { createdAt: testNow - 2 * minuteMs });
  await fleet.addRuns(backup, { createdAt: testNow - 2 * minuteMs, jobName: 'backup-2', status: 'failed' });
  const first = await heard(1);
  assert.deepEqual(
    first?.ended.map(({ jobName, status }) => [jobName, status]),
    [['backup-2', 'failed']],
  );
  assert.deepEqual([first?.cronjob.name, first?.cronjob.verdict.state], ['backup', 'failing']);
  assert.deepEqual([first?.cronjob.metrics.totalRuns, first?.cronjob.activeJobs], [2, []]);
  assert.ok(first?.cronjob.recentRuns);
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs, jobName: 'backup-3' });
  assert.deepEqual(
    (await heard(2))?.ended.map(({ jobName }) => jobName),
    ['backup-3'],
  );
  const kinds = client.events().map(({ event }) => event);
  assert.ok(!kinds.includes('row'), kinds.join());
  assert.equal(kinds.filter((kind) => kind === 'execution').length, 2, 'hints of other CronJobs are left out');
  client.leave();
});

test('carries rows of the wall as the wall has them, in columns of the width that is asked for', async () => {
  await using fleet = await startFleet();
  const backup = await fleet.addCronJob({ name: 'backup' });
  const etl = await fleet.addCronJob({ name: 'etl' });
  await fleet.addMonitor({}, [backup, etl]);
  const client = await openEvents(fleet.server.port, `${path}?carry=overview,wall&refs=prod/backup&step=3h`);
  await client.until(2, look(fleet));
  await fleet.addRuns(etl, { createdAt: testNow - minuteMs });
  await fleet.addRuns(backup, { createdAt: testNow - minuteMs, status: 'failed' });
  const told = () => client.events().filter(({ event }) => event === 'wall');
  for (let turn = 0; turn < 60 && told().length === 0; turn++) await look(fleet)();
  const wall = (await fleet.ask('/api/v1/wall?step=3h')).json() as Wall;
  const [carried] = told();
  assert.ok(carried);
  const { revision, ...carriedRow } = carried.data as unknown as StreamData['wall'];
  const row = wall.rows.find(({ cronjob }) => cronjob.name === 'backup');
  assert.ok(Number(revision) > 0);
  assert.deepEqual(carriedRow, { from: wall.from, now: wall.now, until: wall.until, row });
  assert.ok(row?.cells.some(({ failed }) => failed === 1));
  assert.equal(told().length, 1, 'of other CronJobs nothing is carried');
  client.leave();
});

test('carries no run and no row of the wall of a namespace that its reader may not see', async () => {
  const cluster = new ReviewingCluster().grant('ana', 'list cronjobs in prod');
  await using fleet = await startFleet({ settings: { authMode: 'token' }, cluster: cluster.asCluster() });
  const seen = await fleet.addCronJob({ name: 'backup' });
  const foreign = await fleet.addCronJob({ namespace: 'dev', name: 'secret' });
  await fleet.addMonitor({}, [seen, foreign]);
  const client = await openEvents(fleet.server.port, `${path}?carry=runs,wall&refs=prod/backup,dev/secret`, {
    authorization: 'Bearer ana',
  });
  await client.until(2, look(fleet));
  for (const cronJob of [foreign, seen]) await fleet.addRuns(cronJob, { createdAt: testNow - minuteMs });
  const told = () => client.events().filter(({ event }) => event === 'wall' || event === 'run');
  for (let turn = 0; turn < 60 && told().length < 2; turn++) await look(fleet)();
  for (let turn = 0; turn < 10; turn++) await look(fleet)();
  assert.deepEqual(
    told()
      .map(({ event }) => event)
      .toSorted(),
    ['run', 'wall'],
  );
  assert.ok(!client.text().includes('secret'), client.text());
  client.leave();
});

test('refuses more rows than a page shows', async () => {
  await using fleet = await startFleet();
  const refs = Array.from({ length: 101 }, (_, index) => `prod/job-${index}`).join(',');
  const answer = await fleet.ask(`${path}?carry=rows&refs=${refs}`);
  assert.equal(answer.error().details?.problems?.[0]?.field, 'refs');
});
