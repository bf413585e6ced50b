import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { listEvidence } from '@cronjob-monitor/shared/store';
import { startRealCluster, type RealCluster } from '../realcluster/real-cluster.ts';
import type { ExpectedRun } from '../faults/checker/expected-runs.ts';
import { JobReader, type ReadJob } from '../faults/checker/job-reader.ts';
import { listStoredRuns } from '../faults/checker/stored-runs.ts';
import { until } from '../faults/harness/bench.ts';
import type { MonitorProcess } from '../servers/index.ts';
import { fleet } from './recording/fleet.ts';
import { leaderOf, makeServices, type Service, type Services } from './recording/installations.ts';
import { Stage } from './recording/stage.ts';

const started = await startRealCluster({ podBackOff: '1s' });

/**
 * Three services on one real cluster, each on a database and in namespaces of its own, beside CronJobs of every fate that run every
 * minute. After each disturbance the rows must be what the Jobs themselves say: none missing, none twice, none wrong.
 */
describe('recording on a real cluster', { skip: 'skipped' in started && `Go: ${started.skipped}` }, () => {
  const cluster = started as RealCluster; // else the suite is skipped
  let all: Services;
  let stage: Stage;
  let beganAt = 0;

  before(async () => {
    await cluster.applyCrds();
    all = await makeServices(cluster.kubeconfig);
    stage = new Stage(cluster, await JobReader.start(cluster), all.services);
    await stage.prepare();
    for (const { supervisor } of all.services) supervisor.start();
    for (const { replicas } of all.services) for (const replica of replicas) await replica.untilReady();
    await stage.createFleet();
    beganAt = Date.now();
  });
  after(async () => {
    await stage.reader.stop();
    await all.remove();
    await cluster.stop();
  });

  test('every run of every fate is recorded as its Job says, on each database', async () => {
    await Promise.all(
      all.services.flatMap((service) => [
        stage.recreate(service, 'recreated'),
        stage.deleteRunningJob(service, 'deleted-by-hand'),
        stage.runByHand(service, 'by-hand'),
      ]),
    );
    await stage.afterTheBurst(55);
    assert.deepEqual(await stage.disagreements(30_000), []);
  });

  test('a kill -9 loses and doubles nothing, also of what ends while no controller runs', async () => {
    await stage.afterTheBurst(25);
    const leaders = await Promise.all(all.services.map(({ replicas }) => leaderOf(replicas)));
    const killedAt = Date.now();
    const alone = all.services.filter(({ replicas }) => replicas.length === 1);
    await stage.withGap(alone, async () => {
      for (const [index, { supervisor }] of all.services.entries())
        await supervisor.kill(leaders[index] as MonitorProcess);
      const endedMeanwhile = (service: Service): ReadJob[] =>
        stage.jobsOf(service).filter(({ cronJob, end }) => cronJob.startsWith('long') && (end?.at ?? 0) > killedAt);
      await until('the long runs end', () => alone.every((service) => endedMeanwhile(service).length === 2), 60_000);
      for (const [index, { supervisor }] of all.services.entries()) supervisor.wake(leaders[index] as MonitorProcess);
    });
    assert.deepEqual(await stage.disagreements(90_000), []);
  });

  test('a restart of the API server loses and doubles nothing', async () => {
    await stage.afterTheBurst(25);
    await stage.withGap(all.services, () => cluster.restartApiServer());
    assert.deepEqual(await stage.disagreements(90_000), []);
  });

  test('a compaction of etcd, with an API server that knows nothing earlier, loses and doubles nothing', async () => {
    await stage.withGap(all.services, async () => {
      await cluster.compactEtcd();
      await cluster.restartApiServer({ kill: true });
    });
    await stage.afterTheBurst(45);
    assert.deepEqual(await stage.disagreements(90_000), []);
  });

  test('after three minutes and more all is equal still, and every fate was among the runs', async () => {
    await until('three minutes', () => Date.now() - beganAt >= 180_000, 180_000);
    // A run whose pods went while nothing watched may tell no fate: the next minute brings another.
    const missing = (): string[] => all.services.flatMap((service) => fatesMissing(stage.expectedOf(service), service));
    await until(
      () => `a run that ended as it should, of each: ${missing().join(', ')}`,
      () => missing().length === 0,
      300_000,
    );
    await stage.afterTheBurst(45);
    assert.deepEqual(await stage.disagreements(60_000), []);
    for (const service of all.services) {
      const runs = stage.expectedOf(service);
      const of = (name: string): typeof runs => runs.filter(({ job }) => job.cronJob === name);
      assert.ok(of('replacing').filter(({ statuses }) => statuses[0] === 'replaced').length >= 2);
      assert.ok(of('deleted-by-hand').some(({ statuses }) => statuses[0] === 'deleted'));
      assert.equal(new Set(of('recreated').map(({ job }) => job.cronJobUid)).size, 2);
      assert.deepEqual(
        of('by-hand').map(({ trigger }) => trigger),
        ['manual'],
      );
      assert.equal(of('paused').length, 0);
    }
  });

  test('a log of hostile bytes is kept as safe text', async () => {
    for (const service of all.services) {
      const rows = await listStoredRuns(service.store);
      const run = rows.find(({ cronJobName }) => cronJobName === 'hostile-log');
      const log = (await listEvidence(service.store, run?.jobUid ?? '')).find(({ kind }) => kind === 'logs');
      assert.equal(log?.truncated, true);
      assert.ok((log?.body?.length ?? 0) > 10_000);
      assert.match(log?.body ?? '', /wiped\?/);
      // oxlint-disable-next-line no-control-regex -- what must not be there
      assert.doesNotMatch(log?.body ?? '', /[\u0000-\u0008\u000B-\u001F\u007F]/);
      assert.match(log?.body ?? '', /€€€\n?$/);
    }
  });

  test('each process ends in order when it is told to, standalone within 5 s', async () => {
    for (const { name, replicas, supervisor } of all.services) {
      await supervisor.stop();
      for (const replica of replicas) {
        const end = await replica.end(name === 'sqlite' ? 'SIGINT' : 'SIGTERM');
        assert.equal(end.code, 0, replica.tail());
        assert.ok(name !== 'sqlite' || end.tookMs < 5_000, `it took ${end.tookMs} ms`);
      }
    }
  });
});

/** The CronJobs of which no run has ended yet as it should with all that its pods tell. */
function fatesMissing(runs: readonly ExpectedRun[], { name: service }: Service): string[] {
  const isMissing = ([name, { ends }]: [string, (typeof fleet)[string]]): boolean =>
    ends !== undefined &&
    !runs.some(
      ({ job, reasons }) =>
        job.cronJob === name &&
        job.end?.status === ends.status &&
        job.end.reason === ends.jobReason &&
        reasons !== undefined,
    );
  return Object.entries(fleet)
    .filter(isMissing)
    .map(([name]) => `${name} in ${service}`);
}
