import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createSimCluster } from './index.ts';
import { aCronJob, startTrial } from './trial-cluster.ts';

const cronJobs = '/apis/batch/v1/cronjobs';

describe('a simulated cluster', () => {
  test('knows who asks by tokens, which come and go', async (t) => {
    const { cluster } = await startTrial(t);
    const statusFor = async (token: string | undefined): Promise<number> => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      return (await fetch(new URL(cronJobs, cluster.url), { headers })).status;
    };
    assert.deepEqual(
      [await statusFor('administrator'), await statusFor('x'), await statusFor(undefined)],
      [200, 401, 403],
    );
    cluster.addToken('x', { name: 'eve', groups: [] });
    assert.equal(await statusFor('x'), 403);
    const removeRule = cluster.addAccessRule(({ name }, { verb }) =>
      name === 'eve' && verb === 'list' ? true : undefined,
    );
    assert.equal(await statusFor('x'), 200);
    removeRule();
    assert.equal(await statusFor('x'), 403);
    cluster.removeToken('x');
    assert.equal(await statusFor('x'), 401);
  });

  test('without a token lets every caller do everything', async () => {
    const cluster = createSimCluster();
    await cluster.start();
    assert.equal((await fetch(new URL(cronJobs, cluster.url))).status, 200);
    await cluster.stop();
  });

  test('makes the same names and uids from the same seed', () => {
    const uidOf = (seed: number): string => {
      const cluster = createSimCluster({ seed });
      const { uid } = cluster.objects.put(aCronJob()).metadata;
      void cluster.stop();
      return uid;
    };
    assert.equal(uidOf(5), uidOf(5));
    assert.notEqual(uidOf(5), uidOf(6));
  });

  test('puts, finds, changes and removes objects past the API', async (t) => {
    const { cluster } = await startTrial(t);
    const name = { apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name: 'report' };
    cluster.objects.put({ ...aCronJob(), status: { lastScheduleTime: '2026-01-01T00:00:00Z' } });
    assert.deepEqual(cluster.objects.find(name)?.status, { lastScheduleTime: '2026-01-01T00:00:00Z' });
    const { uid } = cluster.objects.find(name)?.metadata ?? {};
    const changed = cluster.objects.update(name, (object) => ({
      ...object,
      spec: { ...(object.spec as object), suspend: true },
    }));
    assert.deepEqual([changed.metadata.generation, changed.metadata.uid], [2, uid]);
    assert.equal(cluster.objects.put(aCronJob()).metadata.uid, uid, 'a second put replaces');
    assert.equal(cluster.objects.remove(name), true);
    assert.equal(cluster.objects.remove(name), false);
    assert.throws(
      () => cluster.objects.put({ apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'x' } }),
      /serves no Nothing/,
    );
  });

  test('brings the page after the first as things were, and says how many remain', async (t) => {
    const { cluster, ask } = await startTrial(t, { controllers: false });
    for (let index = 0; index < 25; index++)
      cluster.objects.put(aCronJob({ name: `c${String(index).padStart(2, '0')}` }));
    const first = await ask('GET', `${cronJobs}?limit=10`);
    assert.equal(first.body.metadata.remainingItemCount, 15);
    cluster.objects.remove({ apiVersion: 'batch/v1', kind: 'CronJob', namespace: 'default', name: 'c15' });
    cluster.objects.put(aCronJob({ name: 'c12a' }));
    const second = await ask('GET', `${cronJobs}?limit=10&continue=${first.body.metadata.continue}`);
    const names = second.body.items.map((item: { metadata: { name: string } }) => item.metadata.name);
    assert.deepEqual(names, ['c10', 'c11', 'c12', 'c13', 'c14', 'c15', 'c16', 'c17', 'c18', 'c19']);
    assert.equal(second.body.metadata.resourceVersion, first.body.metadata.resourceVersion);
    cluster.compact();
    const third = await ask('GET', `${cronJobs}?limit=10&continue=${second.body.metadata.continue}`);
    assert.deepEqual([third.status, third.body.reason], [410, 'Expired']);
    const rest = await ask('GET', `${cronJobs}?limit=10&continue=${third.body.metadata.continue}`);
    assert.equal(rest.body.items.length, 5);
  });

  test('serves a large fleet page by page in little time', async (t) => {
    const { cluster, ask } = await startTrial(t, { controllers: false });
    for (let index = 0; index < 10_000; index++) cluster.objects.put(aCronJob({ name: `c${index}` }));
    const before = process.cpuUsage();
    let [token, count] = ['', 0];
    do {
      const { body } = await ask('GET', `${cronJobs}?limit=500&continue=${token}`);
      count += body.items.length;
      token = body.metadata.continue ?? '';
    } while (token !== '');
    assert.equal(count, 10_000);
    const { user } = process.cpuUsage(before);
    assert.ok(user < 5e6, `${user / 1e6} s of computing`);
  });

  test('lets go of all clients at once when told so', async (t) => {
    const { cluster, ask, untilWatches } = await startTrial(t);
    const watch = ask('GET', `${cronJobs}?watch=1`);
    watch.catch(() => {});
    await untilWatches(1);
    cluster.dropConnections();
    await assert.rejects(watch);
    await untilWatches(0);
    assert.equal((await ask('GET', cronJobs)).status, 200);
  });

  test('gives namespaces a service account, unless told otherwise', async (t) => {
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', namespace: 'default', name: 'default' };
    const trial = await startTrial(t);
    trial.clock.advanceBy(100);
    assert.ok(trial.cluster.objects.find(account));
    trial.cluster.objects.remove(account);
    trial.clock.advanceBy(100);
    assert.ok(trial.cluster.objects.find(account));
    const bare = await startTrial(t, { serviceAccounts: false });
    bare.clock.advanceBy(100);
    assert.equal(bare.cluster.objects.find(account), undefined);
  });

  test('writes no events that would be over before the next look, and all while a watch is open', async (t) => {
    const events = '/api/v1/namespaces/default/events';
    const { cluster, clock, ask, untilWatches } = await startTrial(t);
    cluster.objects.put(aCronJob({ schedule: '0 * * * *' }));
    clock.advanceBy(6 * 3_600_000);
    const { items } = (await ask('GET', events)).body as { items: { metadata: { creationTimestamp: string } }[] };
    assert.ok(items.length > 0);
    const oldest = Math.min(...items.map(({ metadata }) => Date.parse(metadata.creationTimestamp)));
    assert.ok(clock.now() - oldest <= 3_660_000);
    const watch = ask('GET', `${events}?watch=1&timeoutSeconds=20000`);
    await untilWatches(1);
    clock.advanceBy(6 * 3_600_000);
    const lines = (await watch).text.split('\n');
    assert.ok(lines.filter((line) => line.includes('"ADDED"')).length > 20);
  });

  test('answers 429 to all but administrators when its places are taken', async (t) => {
    const { cluster, clock, ask } = await startTrial(t, { places: { reads: 1, writes: 1 } });
    cluster.addToken('x', { name: 'eve', groups: [] });
    const waiting = ask(
      'GET',
      `${cronJobs}?resourceVersion=${cluster.version() + 100}&resourceVersionMatch=NotOlderThan`,
    );
    const asEve = { authorization: 'Bearer x' };
    let status = 0;
    for (let tries = 0; tries < 50 && status !== 429; tries++)
      status = (await ask('GET', cronJobs, undefined, asEve)).status;
    assert.equal(status, 429);
    assert.equal((await ask('GET', cronJobs)).status, 200);
    clock.advanceBy(5_000);
    assert.equal((await waiting).status, 504);
    assert.equal((await ask('GET', cronJobs, undefined, asEve)).status, 403);
  });
});
