import assert from 'node:assert/strict';
import { test } from 'node:test';
import type {
  AdviceList,
  AlertList,
  CoverageList,
  Health,
  IncidentList,
  Overview,
  Stats,
} from '@cronjob-monitor/shared/contract';
import { newId, projectCronJob, putEvidence, putSilence } from '@cronjob-monitor/shared/store';
import { aGroupOfJobs } from '@cronjob-monitor/shared/testing';
import { addAlert, addChannel } from '../../testing/alerts.ts';
import { testNow } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';
import { ReviewingCluster } from '../../testing/reviewing-cluster.ts';
import { hourMs } from '@cronjob-monitor/shared/domain';
import { headlineOf } from './read.ts';

/** Of each state one or two, and one that is expected and not there. */
async function aFleet(options: Parameters<typeof startFleet>[0] = {}): Promise<TestFleet> {
  const fleet = await startFleet(options);
  const names = ['backup', 'etl', 'mail', 'report', 'sync', 'well'];
  const cronJobs = [];
  for (const name of names) cronJobs.push(await fleet.addCronJob({ name }));
  await fleet.addMonitor({}, cronJobs);
  for (const cronJob of cronJobs)
    await fleet.addRuns(cronJob, {
      createdAt: testNow - 2 * hourMs,
      status: cronJob.name === 'sync' ? 'failed' : 'success',
    });
  await addAlert(fleet, { cronJobName: 'backup', severity: 'critical', sinceAt: testNow - hourMs });
  await addAlert(fleet, { cronJobName: 'backup', type: 'jobStuck', sinceAt: testNow - 3 * hourMs });
  const held = { state: 'suppressed', suppressedBy: 'silence' } as const;
  await addAlert(fleet, { cronJobName: 'etl', severity: 'critical', type: 'deadManTriggered', ...held });
  await addAlert(fleet, {
    cronJobName: 'mail',
    type: 'slaBreached',
    subject: 'successRate',
    sinceAt: testNow - 9 * hourMs,
  });
  await addAlert(fleet, { cronJobName: 'report', type: 'missedSchedule' });
  return fleet;
}

async function incidents(fleet: TestFleet, query = ''): Promise<IncidentList> {
  const answer = await fleet.ask(`/api/v1/incidents${query}`);
  assert.equal(answer.status, 200, answer.text);
  return answer.json() as IncidentList;
}
async function coverageOf(fleet: TestFleet): Promise<CoverageList['summary']> {
  return ((await fleet.ask('/api/v1/coverage')).json() as CoverageList).summary;
}
async function findingsOf(fleet: TestFleet): Promise<number> {
  return ((await fleet.ask('/api/v1/advice')).json() as AdviceList).counts.findings;
}
const namesOf = async (fleet: TestFleet, query?: string): Promise<string[]> =>
  (await incidents(fleet, query)).items.map(({ cronjob }) => cronjob.name);

test('lists a row for each CronJob that is not well: by state, held ones last, then by what is wrong', async () => {
  await using fleet = await aFleet();
  const { items, pagination } = await incidents(fleet);
  assert.deepEqual(
    items.map(({ cronjob, verdict, alerts }) => [cronjob.name, verdict.state, alerts.map(({ type }) => type)]),
    [
      ['backup', 'critical', ['jobFailed', 'jobStuck']],
      ['etl', 'critical', ['deadManTriggered']],
      ['report', 'warning', ['missedSchedule']],
      ['mail', 'warning', ['slaBreached']],
      ['sync', 'failing', []],
    ],
  );
  assert.equal(pagination.total, 5);
  assert.equal(items[0]?.verdict.since, new Date(testNow - 3 * hourMs).toISOString(), 'its oldest alert began then');
  assert.equal(items[0]?.recentRuns.length, 1);
  assert.equal(items[0]?.alerts[0]?.verdict.words, items[0]?.verdict.words, 'the worst alert is the verdict');
});

test('finds them by state, type, what is held, monitor and owner, in pages', async () => {
  await using fleet = await aFleet();
  const owned = await fleet.addCronJob({ name: 'owned', notes: { owner: 'data' } });
  await fleet.addMonitor({ name: 'other' }, [owned]);
  await fleet.addRuns(owned, { createdAt: testNow - hourMs, status: 'failed' });
  assert.deepEqual(await namesOf(fleet, '?state=failing'), ['sync', 'owned']);
  assert.deepEqual(await namesOf(fleet, '?type=jobStuck,missedSchedule'), ['backup', 'report']);
  assert.deepEqual(await namesOf(fleet, '?held=true'), ['etl']);
  assert.deepEqual(await namesOf(fleet, '?held=false&state=critical'), ['backup']);
  assert.deepEqual(await namesOf(fleet, '?monitor=prod/other'), ['owned']);
  assert.deepEqual(await namesOf(fleet, '?owner=data'), ['owned']);
  assert.deepEqual(await namesOf(fleet, '?cronjob=report,sync'), ['report', 'sync']);
  assert.deepEqual(await namesOf(fleet, '?limit=2&offset=1'), ['etl', 'report']);
  const open = '?state=active,suppressed';
  for (const [query, types] of [
    ['&held=true', ['deadManTriggered']],
    ['&cronjobState=critical&held=false', ['jobFailed', 'jobStuck']],
    ['&cronjobState=critical&type=jobStuck', ['jobStuck']],
    ['&owner=data', []],
  ] as const) {
    const answer = await fleet.ask(`/api/v1/alerts${open}${query}`);
    const { items, total, bySeverity } = answer.json() as AlertList;
    assert.deepEqual([items.map(({ type }) => type), total], [types, types.length], query);
    assert.equal(bySeverity.critical + bySeverity.warning, total);
    const file = (await fleet.ask(`/api/v1/alerts${open}${query}&format=json`)).json() as AlertList['items'];
    assert.deepEqual(
      file.map(({ type }) => type),
      types,
      `${query}: a file of all`,
    );
  }
  for (const query of [
    '?severity=loud',
    '?acknowledged=yes',
    '?state=healthy',
    '?type=broken',
    '?held=yes',
    '?limit=0',
  ])
    assert.equal((await fleet.ask(`/api/v1/incidents${query}`)).status, 400, query);
});

test('severity, acknowledgement and type are asked of one alert of the row', async () => {
  await using fleet = await aFleet();
  const { items } = await incidents(fleet, '?cronjob=backup');
  const [failed, stuck] = items[0]?.alerts ?? [];
  assert.deepEqual([failed?.type, stuck?.type], ['jobFailed', 'jobStuck']);
  assert.deepEqual(await namesOf(fleet, '?severity=warning'), ['backup', 'report', 'mail']);
  assert.deepEqual(await namesOf(fleet, '?severity=critical&type=jobStuck'), []);
  const noted = await fleet.ask(`/api/v1/alerts/${stuck?.id}/acknowledge`, { method: 'POST', body: {} });
  assert.equal(noted.status, 200, noted.text);
  assert.deepEqual(await namesOf(fleet, '?acknowledged=true'), ['backup']);
  assert.deepEqual(await namesOf(fleet, '?acknowledged=true&type=jobFailed'), []);
  assert.deepEqual(await namesOf(fleet, '?acknowledged=false&type=jobFailed'), ['backup']);
});

test('what waits stands after what was told, and makes no CronJob worse', async () => {
  await using fleet = await aFleet();
  const pending = { state: 'pending', dueAt: testNow + hourMs, severity: 'critical' } as const;
  await addAlert(fleet, { cronJobName: 'report', ...pending });
  await addAlert(fleet, { cronJobName: 'gone', type: 'absent', subject: 'disappeared', ...pending });
  const { items } = await incidents(fleet);
  const shown = items.map(({ cronjob, verdict, alerts }) => [
    cronjob.name,
    verdict.state,
    ...alerts.map(({ state }) => state),
  ]);
  assert.deepEqual(
    shown.filter(([name]) => name === 'report' || name === 'gone'),
    [
      ['report', 'warning', 'active', 'pending'],
      ['gone', 'failing', 'pending'],
    ],
  );
});

test('a silence holds an incident from its first second on, also after its message went out', async () => {
  await using fleet = await aFleet();
  const matcher = { namespaces: [], refs: [], cronjobs: ['backup'], types: [], severities: [], monitor: null };
  const span = { startsAt: testNow - 1, endsAt: testNow + hourMs, endedAt: undefined, untilResolved: false };
  const said = { comment: 'storage move', createdBy: 'jonas', createdAt: testNow, updatedAt: testNow };
  await fleet.store.transaction((tx) =>
    putSilence(tx, { id: newId(testNow), matcher: { ...matcher, alertId: null, all: false }, ...span, ...said }),
  );
  assert.deepEqual(await namesOf(fleet, '?held=true'), ['etl', 'backup']);
  const { items } = await incidents(fleet);
  assert.deepEqual(
    items.slice(0, 2).map(({ cronjob }) => cronjob.name),
    ['etl', 'backup'],
    'both are held, and the dead-man is worse',
  );
});

test('a CronJob that is expected and not there has one row, however many monitors expect it', async () => {
  await using fleet = await aFleet();
  const gone = await fleet.addCronJob({ name: 'gone' });
  await fleet.addMonitor({ name: 'other' }, [gone]);
  const absent = { cronJobName: 'gone', type: 'absent', subject: 'disappeared', severity: 'critical' } as const;
  await addAlert(fleet, absent);
  await addAlert(fleet, { ...absent, severity: 'warning', fingerprint: '1'.repeat(32) });
  const { items } = await incidents(fleet, '?type=absent');
  assert.deepEqual(
    items.map(({ cronjob, alerts, recentRuns }) => [cronjob.name, alerts.length, recentRuns.length]),
    [['gone', 2, 0]],
  );
  assert.equal((await namesOf(fleet))[0], 'gone', 'before what failed');
});

test('the headline counts and names CronJobs; what is not there, and groups of Jobs, are counted behind them', async () => {
  await using fleet = await aFleet();
  const absent = { type: 'absent', subject: 'disappeared', severity: 'critical' } as const;
  await addAlert(fleet, { ...absent, cronJobName: 'gone', fingerprint: '2'.repeat(32) });
  await fleet.addMonitor({ name: 'jobs' }, [
    await fleet.addCronJob(aGroupOfJobs('~seed', {}, testNow - 30 * 24 * hourMs)),
  ]);
  await addAlert(fleet, { cronJobName: '~seed', severity: 'critical' });
  const { headline, incidents: shown } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  assert.equal(headline, '2 critical: backup, etl; 1 missing; 1 group of Jobs not well');
  assert.equal(shown[0]?.cronjob.name, 'gone', 'of the incidents it is the first');
});

test('the overview says what is wrong first, and counts what it leaves out', async () => {
  await using fleet = await aFleet();
  await addChannel(fleet);
  for (const name of ['pager', 'mail', 'hook']) await addChannel(fleet, { name, ready: false });
  const answer = await fleet.ask('/api/v1/overview');
  assert.equal(answer.status, 200, answer.text);
  const overview = answer.json() as Overview;
  assert.equal(overview.headline, '2 critical: backup, etl; 3 channels not ready');
  assert.deepEqual(overview.states, { critical: 2, warning: 2, failing: 1, unknown: 0, suspended: 0, healthy: 1 });
  assert.deepEqual([overview.incidents.length, overview.incidentTotal], [5, 5]);
  assert.deepEqual(
    [overview.monitors.words, overview.channels.words],
    ['1 monitor, all well', '1 of 4 channels ready, not hook, mail and 1 more'],
  );
  assert.deepEqual(overview.incidents, (await incidents(fleet)).items);
  assert.equal(overview.service.storage, 'connected');
  assert.deepEqual(overview.coverage.byState, (await coverageOf(fleet)).byState);
  assert.equal(overview.findings, await findingsOf(fleet));
});

test('the overview names what has been suspended for longest', async () => {
  await using fleet = await startFleet();
  const at = (days: number): number => testNow - days * 24 * hourMs;
  const suspended = async (name: string, days: number) => {
    const facts = await fleet.addCronJob({ name, generation: 1 }, { seenAt: at(90) });
    await fleet.addRuns(facts, { createdAt: at(80) });
    const now = { ...facts, suspended: true, generation: 2 };
    await fleet.store.fenced(fleet.epoch, (tx) =>
      projectCronJob(tx, { facts: now, seenAt: at(days), changedAt: at(days) }),
    );
    return facts;
  };
  await fleet.addMonitor({}, [await suspended('brief', 2), await suspended('legacy-sync', 41)]);
  const { suspended: told, incidentTotal } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  const words = `legacy-sync for {age:${new Date(at(41)).toISOString()}} and 1 more`;
  assert.deepEqual([told, incidentTotal], [{ total: 2, words }, 0]);
});

test('the overview says fine of what was judged, and of nothing else', async () => {
  await using fleet = await startFleet();
  const only = await fleet.addCronJob({ name: 'only' });
  await fleet.addMonitor({}, [only]);
  await fleet.addRuns(only, { createdAt: testNow - hourMs, status: 'success' });
  const { headline, service } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  assert.equal(service.leader, false);
  assert.equal(headline, '1 CronJob, none fails');
});

test('the headline calls no CronJob fine that is suspended', async () => {
  await using fleet = await startFleet();
  const facts = await fleet.addCronJob({ name: 'only' });
  const legacy = await fleet.addCronJob({ name: 'legacy-sync', suspended: true });
  await fleet.addMonitor({}, [facts, legacy]);
  for (const one of [facts, legacy]) await fleet.addRuns(one, { createdAt: testNow - hourMs, status: 'success' });
  const stats = (await fleet.ask('/api/v1/stats')).json() as Stats;
  const { service } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  const judged: Health = { ...service, status: 'healthy', schedulersRunning: ['dead-man-switch'] };
  assert.equal(headlineOf(stats, { items: [], missing: 0, groups: 0 }, judged), '1 CronJob is fine, 1 suspended');
});

test('the headline of a service without CronJobs says that nothing is watched only where nothing is wrong', async () => {
  await using fleet = await startFleet();
  const stats = (await fleet.ask('/api/v1/stats')).json() as Stats;
  const { service, headline } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  assert.equal(headline, 'Nothing is watched yet');
  const words = headlineOf(stats, { items: [], missing: 2, groups: 1 }, service);
  assert.equal(words, 'No CronJob is watched; 2 missing; 1 group of Jobs not well');
});

test('an overview that is kept is packed once for all who ask, and tells at once of what the service notices', async () => {
  await using fleet = await aFleet();
  // As if each step of an answer took a while: only what took long is kept.
  const { clock } = fleet;
  let steps = 0;
  const monotonicMs = clock.monotonicMs.bind(clock);
  clock.monotonicMs = () => monotonicMs() + 5 * steps++;
  const ask = () => fleet.server.ask('/api/v1/overview', { headers: { 'Accept-Encoding': 'gzip' } });
  const answers = [await ask(), await ask(), await ask(), await ask()];
  // What is packed for one request alone is sent in pieces, as it is packed.
  assert.equal(answers[0]?.headers['content-length'], undefined);
  assert.ok(answers.some(({ headers }) => headers['content-encoding'] === 'gzip' && headers['content-length']));
  fleet.problems.add(() => [{ key: 'x', cause: undefined, sentence: 'something new is wrong', blocks: false }]);
  const { service } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  assert.ok(service.problems.includes('something new is wrong'), service.problems.join());
});

test('the overview has a lane for each namespace, those with the worst CronJobs first, as many as there is room for', async () => {
  await using fleet = await aFleet();
  const idle = [];
  for (const namespace of ['a', 'b', 'c', 'd', 'e', 'f'])
    idle.push(await fleet.addCronJob({ namespace, name: 'idle' }));
  await fleet.addMonitor({ name: 'idle' }, idle);
  const { lanes, laneTotal, lanesFrom } = (await fleet.ask('/api/v1/overview')).json() as Overview;
  assert.deepEqual(
    lanes.map(({ namespace, cronJobs }) => [namespace, cronJobs]),
    [
      ['prod', 6],
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['d', 1],
      ['e', 1],
    ],
  );
  assert.equal(laneTotal, 7);
  const [run] = lanes[0]?.cells ?? [];
  assert.deepEqual(
    [run?.c, run?.ok, run?.failed, run?.jobName, run?.words],
    [Math.floor((testNow - 2 * hourMs - Date.parse(lanesFrom)) / (hourMs / 2)), 5, 1, null, '6 runs, 1 failed'],
  );
  assert.equal(lanes[0]?.cells.length, 1);
  assert.deepEqual(lanes[1]?.cells, []);
});

test('the overview tells of tonight in the zone of its reader', async () => {
  await using fleet = await aFleet();
  const untilIn = async (zone: string): Promise<string> =>
    ((await fleet.ask(`/api/v1/overview?zone=${zone}`)).json() as Overview).tonight.until;
  assert.notEqual(await untilIn('Asia/Tokyo'), await untilIn('America/New_York'));
  const refused = await fleet.ask('/api/v1/overview?zone=Mars/Olympus');
  assert.equal(refused.status, 400);
  assert.match(refused.text, /zone: is no time zone/);
});

test('an incident says what has to be known before something is done with it', async () => {
  await using fleet = await aFleet();
  await addAlert(fleet, { cronJobName: 'gone', type: 'absent', subject: 'disappeared', severity: 'critical' });
  const { items } = await incidents(fleet);
  const [gone, backup] = items;
  assert.deepEqual([gone?.cronjob.name, gone?.actedOn], ['gone', null]);
  assert.deepEqual(
    [backup?.actedOn?.suspended, backup?.actedOn?.runningJobs, backup?.actedOn?.concurrencyPolicy],
    [false, 0, 'Allow'],
  );
});

test('CronJobs that fail by one thing say so in one sentence, but for who may not read the log that tells it', async () => {
  const cluster = new ReviewingCluster().grant('all', 'list cronjobs', 'get pods/log').grant('lists', 'list cronjobs');
  await using fleet = await startFleet({ cluster: cluster.asCluster(), settings: { authMode: 'token' } });
  const cronJobs = [];
  for (const name of ['a', 'b', 'c', 'd']) cronJobs.push(await fleet.addCronJob({ name }));
  await fleet.addMonitor({}, cronJobs);
  const fault = { cause: 'platform', scope: 'node node-1' } as const;
  for (const cronJobName of ['c', 'd']) await addAlert(fleet, { cronJobName, type: 'jobStuck', fault });
  for (const [index, host] of ['orders', 'db.prod'].entries()) {
    const cronJob = cronJobs[index];
    assert.ok(cronJob);
    const [run] = await fleet.addRuns(cronJob, { createdAt: testNow - hourMs, status: 'failed' });
    assert.ok(run);
    const text = `${host}: dial tcp db.prod:5432: connect: connection refused`;
    const of = { owner: run.jobUid, cronJobUid: cronJob.uid, kind: 'logs', name: 'p/main', body: text } as const;
    const at = { createdAt: run.createdAt, capturedAt: run.createdAt };
    await putEvidence(fleet.store, fleet.epoch, [{ ...of, ...at, truncated: false, unavailable: undefined }]);
  }
  const causesFor = async (caller: string): Promise<unknown[]> => {
    const answer = await fleet.ask('/api/v1/incidents', { headers: { authorization: `Bearer ${caller}` } });
    return (answer.json() as IncidentList).items.map(({ cronjob, sharedCause }) => [cronjob.name, sharedCause]);
  };
  const node = 'Node node-1 ends their pods, or does not start them';
  const database = 'db.prod:5432 refuses connections';
  assert.deepEqual(await causesFor('all'), [
    ['c', node],
    ['d', node],
    ['a', database],
    ['b', database],
  ]);
  assert.deepEqual((await causesFor('lists')).slice(2), [
    ['a', null],
    ['b', null],
  ]);
});

test('shows what its caller may see, and no more', async () => {
  const cluster = new ReviewingCluster().grant('cy', 'list cronjobs in dev');
  await using fleet = await aFleet({ cluster: cluster.asCluster(), settings: { authMode: 'token' } });
  const headers = { authorization: 'Bearer cy' };
  for (const path of ['incidents', 'overview']) {
    const answer = await fleet.ask(`/api/v1/${path}?namespace=dev`, { headers });
    assert.equal(answer.status, 200, answer.text);
    assert.doesNotMatch(answer.text, /backup|etl/, path);
    assert.doesNotMatch((await fleet.ask(`/api/v1/${path}?namespace=prod`, { headers })).text, /backup|etl/, path);
  }
});
