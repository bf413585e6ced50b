import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  countMonitorPhases,
  countCronJobs,
  countTargets,
  findCronJob,
  findMonitor,
  forgetCronJob,
  forgetMonitor,
  listChannels,
  listCronJobs,
  listMonitors,
  listMonitorsOf,
  projectChannel,
  projectMonitor,
  recordRuns,
  setTargets,
  type CatalogCronJob,
} from '@cronjob-monitor/shared/store';
import { aRun, minuteMs, now, projected } from '../facts.ts';
import { contract, type Bench } from '../suite.ts';

const namesOf = (cronJobs: readonly CatalogCronJob[]): string[] => cronJobs.map(({ name }) => name);

/** A monitor that selects these CronJobs. */
async function watch({ store, epoch }: Bench, name: string, uids: readonly string[], leading = true): Promise<string> {
  const uid = randomUUID();
  const monitor = {
    uid,
    namespace: 'prod',
    name,
    generation: 1,
    createdAt: now,
    spec: { sla: { windowDays: 14 } },
    phase: 'Active' as const,
    conditions: [{ type: 'Ready', status: 'True' }],
    counts: {},
    evaluatedAt: now,
  };
  await store.fenced(epoch, async (tx) => {
    await projectMonitor(tx, monitor);
    await setTargets(
      tx,
      uid,
      uids.map((cronJobUid) => ({ cronJobUid, leading })),
      now,
    );
  });
  return uid;
}

export const cronJobList = contract('the list of CronJobs', (test) => {
  test('filters, sorts and pages in the database', async (bench) => {
    const { store, epoch } = bench;
    const backup = await projected(store, epoch, { namespace: 'prod', name: 'backup' });
    const etl = await projected(store, epoch, { namespace: 'data', name: 'etl_1', suspended: true });
    const report = await projected(store, epoch, { namespace: 'prod', name: 'report' });
    await projected(store, epoch, { namespace: 'prod', name: 'unselected' });
    await watch(bench, 'dr', [backup.uid, etl.uid, report.uid]);
    await watch(bench, 'second', [backup.uid], false);
    await recordRuns(store, epoch, [aRun(backup, { createdAt: now - minuteMs })]);

    const all = await listCronJobs(store, {});
    assert.deepEqual(namesOf(all), ['etl_1', 'backup', 'report'], 'by namespace and name');
    assert.deepEqual(
      all.map(({ status }) => status),
      ['unknown', 'healthy', 'unknown'],
    );
    assert.equal(all[1]?.lastRun?.status, 'success');
    assert.equal(all[1]?.uid, backup.uid);

    assert.deepEqual(namesOf(await listCronJobs(store, { namespaces: ['prod'] })), ['backup', 'report']);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: 'E' })), ['etl_1', 'report']);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '_' })), ['etl_1'], 'no character stands for others');
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '%' })), []);
    assert.deepEqual(namesOf(await listCronJobs(store, { search: '!' })), []);
    assert.deepEqual(namesOf(await listCronJobs(store, { monitor: { namespace: 'prod', name: 'second' } })), [
      'backup',
    ]);
    assert.deepEqual(namesOf(await listCronJobs(store, {}, { statuses: ['unknown', 'suspended'] })), [
      'etl_1',
      'report',
    ]);

    const by = (key: 'status' | 'name' | 'lastSuccess', descending = false) =>
      listCronJobs(store, {}, { sort: { key, descending } }).then(namesOf);
    assert.deepEqual(await by('status'), ['etl_1', 'report', 'backup']);
    assert.deepEqual(await by('status', true), ['backup', 'etl_1', 'report']);
    assert.deepEqual(await by('name', true), ['report', 'etl_1', 'backup']);
    assert.deepEqual(await by('lastSuccess'), ['backup', 'etl_1', 'report'], 'unknown values are last');
    assert.deepEqual(await by('lastSuccess', true), ['backup', 'etl_1', 'report'], 'both ways');
    const page = await listCronJobs(
      store,
      {},
      { sort: { key: 'name', descending: false }, page: { limit: 1, offset: 1 } },
    );
    assert.deepEqual(namesOf(page), ['etl_1']);

    assert.deepEqual(await countCronJobs(store, {}, ['unknown']), {
      total: 2,
      summary: { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 2 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 2, suspended: 0, healthy: 1 },
    });
    assert.deepEqual((await countCronJobs(store, { namespaces: ['nowhere'] })).total, 0);

    const monitors = await listMonitorsOf(store, [backup.id]);
    assert.deepEqual(
      monitors.map(({ name, leading }) => [name, leading]),
      [
        ['dr', true],
        ['second', false],
      ],
    );
    assert.equal((await listMonitorsOf(store)).length, 4);
    const counts = await countTargets(store);
    const dr = monitors[0]?.monitorId ?? 0;
    assert.deepEqual(counts.get(dr), {
      cronJobs: 3,
      summary: { healthy: 1, warning: 0, critical: 0, suspended: 1, running: 0, unknown: 2 },
      states: { critical: 0, warning: 0, failing: 0, unknown: 2, suspended: 0, healthy: 1 },
    });
  });

  test('keeps what was removed as long as a run of it is kept, once for each name', async (bench) => {
    const { store, epoch } = bench;
    const gone = await projected(store, epoch, { namespace: 'old', name: 'gone' });
    const empty = await projected(store, epoch, { namespace: 'old', name: 'empty' });
    const first = await projected(store, epoch, { namespace: 'old', name: 'again' });
    await recordRuns(store, epoch, [aRun(gone), aRun(first)]);
    for (const { uid } of [gone, empty, first]) await store.fenced(epoch, (tx) => forgetCronJob(tx, uid, now));
    const second = await projected(store, epoch, { namespace: 'old', name: 'again' });
    await watch(bench, 'old', [second.uid]);

    const present = { namespaces: ['old'] };
    assert.deepEqual(namesOf(await listCronJobs(store, present)), ['again']);
    const all = await listCronJobs(store, { ...present, includeRemoved: true });
    assert.deepEqual(namesOf(all), ['again', 'gone']);
    assert.equal(all[0]?.uid, second.uid);
    assert.equal(all[1]?.deletedAt, now);
    assert.equal((await findCronJob(store, 'old', 'again'))?.uid, second.uid);
    assert.equal((await findCronJob(store, 'old', 'gone'))?.uid, gone.uid);
    assert.equal(await findCronJob(store, 'old', 'never'), undefined);
  });

  test('finds monitors and channels that exist, and says of others that they were deleted', async (bench) => {
    const { store, epoch } = bench;
    const uid = await watch(bench, 'short-lived', []);
    const { monitor } = await findMonitor(store, { namespace: 'prod', name: 'short-lived' });
    assert.equal(monitor?.uid, uid);
    assert.deepEqual(monitor.spec, { sla: { windowDays: 14 } });
    assert.deepEqual(monitor.conditions, [{ type: 'Ready', status: 'True' }]);
    await store.fenced(epoch, (tx) => forgetMonitor(tx, uid, now));
    assert.deepEqual(await findMonitor(store, { namespace: 'prod', name: 'short-lived' }), {
      monitor: undefined,
      wasDeleted: true,
    });
    assert.equal((await findMonitor(store, { namespace: 'prod', name: 'never' })).wasDeleted, false);
    assert.ok(!(await listMonitors(store)).some(({ name }) => name === 'short-lived'));
    const listed = Map.groupBy(await listMonitors(store), ({ phase }) => phase);
    assert.deepEqual(
      await countMonitorPhases(store),
      new Map([...listed].map(([phase, monitors]) => [phase, monitors.length])),
    );

    const channel = {
      uid: randomUUID(),
      name: 'team-chat',
      type: 'chat' as const,
      generation: 1,
      spec: {},
      ready: true,
      reason: 'Validated',
      message: '',
      secretVersion: undefined,
    };
    await store.fenced(epoch, (tx) => projectChannel(tx, channel, now));
    assert.deepEqual(await listChannels(store), [
      { name: 'team-chat', type: 'chat', ready: true, reason: 'Validated' },
    ]);
  });
});
