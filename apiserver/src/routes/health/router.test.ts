import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Health } from '@cronjob-monitor/shared/contract';
import { beat, type Heartbeat } from '@cronjob-monitor/shared/store';
import { FakeClock } from '@cronjob-monitor/shared/testing';
import { databaseAway, startApi, testNow, type TestApi } from '../../testing/api.ts';
import { startFleet, type TestFleet } from '../../testing/fleet.ts';

const schedulers = ['dead-man-switch', 'sla-recalculation', 'stuck-job-check', 'prune'];

/** The API without its database. */
function startAway(): Promise<TestApi> {
  const clock = new FakeClock(testNow);
  return startApi({ clock, store: databaseAway(clock) });
}

/** The heartbeat of a leader that is well. */
function aHeartbeat(fleet: TestFleet, changes: Partial<Heartbeat> = {}): Heartbeat {
  return {
    holder: 'controller-0_x',
    version: 'v0.1.0',
    leading: true,
    epoch: fleet.epoch,
    startedAt: testNow - 60_000,
    beatAt: testNow - 1_000,
    schedulers,
    evaluatedAt: testNow - 2_000,
    figures: { watchAgeMs: { CronJob: 3_000, Job: 1_000 } },
    ...changes,
  };
}

async function health(fleet: TestFleet, status = 200): Promise<Health> {
  const answer = await fleet.ask('/api/v1/health');
  assert.equal(answer.status, status, answer.text);
  assert.equal(answer.headers['cache-control'], 'no-store');
  return answer.json() as Health;
}

test('is healthy while a live leader evaluates and hears of its watches', async () => {
  await using fleet = await startFleet();
  await beat(fleet.store, aHeartbeat(fleet));
  await fleet.clock.advance(11_000);
  const { schemaVersion, controller, timeZoneData, ...told } = await health(fleet);
  assert.deepEqual(told, {
    status: 'healthy',
    storage: 'connected',
    ready: true,
    leader: true,
    version: 'v0.1.0',
    uptime: '11s',
    analyzerEnabled: true,
    schedulersRunning: schedulers,
    problems: [],
    lastEvaluation: new Date(testNow - 2_000).toISOString(),
    cluster: 'eu',
    defaultTimeZone: 'UTC',
  });
  assert.ok(Number(schemaVersion) > 0);
  assert.equal(timeZoneData, process.versions.tz);
  assert.deepEqual([controller?.name, controller?.version, controller?.epoch], ['controller-0', 'v0.1.0', fleet.epoch]);
  assert.equal(controller?.since, new Date(testNow).toISOString(), 'the beginning of its term');
});

function aProblem(sentence: string, blocks: boolean) {
  return { key: sentence, sentence, blocks };
}

/** What the heartbeat says, and what is told as a problem. */
const degraded: readonly (readonly [string, Partial<Heartbeat>, RegExp])[] = [
  ['its beat is older than a lease', { beatAt: testNow - 15_001 }, /No controller leads/],
  ['it does not lead', { leading: false, epoch: undefined }, /No controller leads/],
  ['its last evaluation is late', { evaluatedAt: testNow - 180_001 }, /Nothing was evaluated since 2026-11-21T06:49/],
  ['a watch heard nothing', { figures: { watchAgeMs: { Job: 121_400 } } }, /Nothing was heard of Job for 2m1s/],
  [
    'a leader of an earlier release tells a problem',
    { figures: { problems: ['The clock is 40 s off'] } },
    /The clock is/,
  ],
  ['the leader tells a problem', { figures: { problems: [aProblem('may not patch', false)] } }, /may not patch/],
];

for (const [title, changes, problem] of degraded) {
  test(`is degraded when ${title}`, async () => {
    await using fleet = await startFleet();
    await beat(fleet.store, aHeartbeat(fleet, changes));
    const told = await health(fleet);
    assert.equal(told.status, 'degraded');
    assert.equal(told.problems.length, 1);
    assert.match(told.problems[0] ?? '', problem);
  });
}

test('is not ready when the leader cannot do its work, and says that first', async () => {
  await using fleet = await startFleet();
  const problems = [aProblem('slow', false), aProblem('the Lease cannot be read', true)];
  await beat(fleet.store, aHeartbeat(fleet, { figures: { problems } }));
  const told = await health(fleet);
  assert.deepEqual([told.status, told.ready], ['degraded', false]);
  assert.deepEqual(told.problems, ['the Lease cannot be read', 'slow']);
});

test('is ready when the schema was brought forward after the leader beat', async () => {
  await using fleet = await startFleet();
  const problem = { ...aProblem('the schema of the database is 0', true), key: 'schema', cause: 'schemaDiffers' };
  await beat(fleet.store, aHeartbeat(fleet, { figures: { problems: [problem] } }));
  const { ready, problems } = await health(fleet);
  assert.deepEqual([ready, problems], [true, []]);
});

test('without a leader a live controller says why it does not take the lead, a dead one nothing', async () => {
  await using fleet = await startFleet();
  const waiting = { leading: false, epoch: undefined };
  await beat(fleet.store, aHeartbeat(fleet, { ...waiting, figures: { problems: [aProblem('no right', true)] } }));
  const dead = { ...waiting, holder: 'controller-9_y', beatAt: testNow - 60_000 };
  await beat(fleet.store, aHeartbeat(fleet, { ...dead, figures: { problems: [aProblem('of old', true)] } }));
  const told = await health(fleet);
  assert.equal(told.ready, false);
  assert.equal(told.problems.length, 2);
  assert.match(told.problems.join(), /^No controller leads.*no right$/);
});

test('a leader that evaluates nothing is not late with it', async () => {
  await using fleet = await startFleet();
  const started = { schedulers: ['prune'], evaluatedAt: undefined, startedAt: testNow - 3_600_000 };
  await beat(fleet.store, aHeartbeat(fleet, started));
  const told = await health(fleet);
  assert.equal(told.status, 'healthy');
  assert.equal(told.analyzerEnabled, false);
  assert.deepEqual(told.schedulersRunning, ['prune']);
});

test('is unhealthy with 503 and the same body while the database is away', async () => {
  await using api = await startAway();
  const answer = await api.ask('/api/v1/health');
  assert.equal(answer.status, 503);
  const told = answer.json() as Health;
  assert.deepEqual(
    [told.status, told.storage, told.leader, told.lastEvaluation, told.schemaVersion, told.controller],
    ['unhealthy', 'unreachable', false, null, null, null],
  );
  assert.deepEqual(told.problems, ['nothing listens at db:5432'], 'what the store says of it, once');
  assert.equal(told.ready, false);
});

test('other answers are 503 DATABASE_UNAVAILABLE then, whoami is not', async () => {
  await using api = await startAway();
  for (const path of ['stats', 'monitors', 'cronjobs', 'cronjobs/a/b', 'admin/storage-stats', 'config']) {
    const answer = await api.ask(`/api/v1/${path}`);
    assert.equal(answer.status, 503, path);
    assert.equal(answer.error().code, 'DATABASE_UNAVAILABLE');
    assert.equal(answer.headers['retry-after'], '5');
  }
  assert.equal((await api.ask('/api/v1/whoami')).status, 200);
});

test('is unready when the database is away for 30 s, and ready again with it', async () => {
  await using api = await startAway();
  api.api.start();
  await api.clock.advance(0);
  assert.deepEqual(api.problems.unreadyBecause(), ['nothing listens at db:5432']);
  await using fleet = await startFleet();
  fleet.api.start();
  for (let turn = 0; turn < 200 && fleet.problems.unreadyBecause().length > 0; turn += 1)
    await fleet.clock.advance(1_000);
  assert.deepEqual(fleet.problems.unreadyBecause(), []);
});

test('is unready until it has looked at the schema for the first time', async () => {
  await using fleet = await startFleet();
  assert.deepEqual(fleet.problems.unreadyBecause(), [
    'the schema of the database is being looked at for the first time',
  ]);
  await health(fleet);
  assert.deepEqual(fleet.problems.unreadyBecause(), []);
});

test('a schema that this version does not serve is migrating, for health and for everything else', async () => {
  await using fleet = await startFleet();
  const versions: object[] = await fleet.store.sql('schema_version').where('version', '>', 0);
  await fleet.store.sql('schema_version').where('version', '>', 0).delete();
  const told = await health(fleet, 503);
  assert.deepEqual([told.status, told.storage], ['unhealthy', 'migrating']);
  const answer = await fleet.ask('/api/v1/stats');
  assert.equal(answer.status, 503);
  assert.equal(answer.error().code, 'MIGRATING');
  assert.equal(answer.error().details?.schema, 0);

  await fleet.store.sql('schema_version').insert(versions);
  assert.equal(
    (await fleet.ask('/api/v1/stats')).status,
    200,
    'once it is brought forward, the next request is served',
  );
});
