import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { namespace, putMonitor, startBench, until } from '../../faults/harness/bench.ts';
import { putCronJob } from '../../faults/harness/objects.ts';
import { applyCrds } from '../../realcluster/apply-crds.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { askHealth, removeDefinitions, untilOnlyCause } from './told.ts';

const noMonitors =
  /the definition of CronJobMonitor is not in the cluster: kubectl apply -f charts\/cronjob-monitor\/crds\//;

const monitorKind = { apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' };

/** Both surfaces and the log say it. */
async function untilNotReady(
  service: MonitorProcess,
  sentence: RegExp,
  cause: 'definitionsMissing' | 'leaseRefused',
  limitMs = 90_000,
): Promise<void> {
  let body = '';
  await service.until(
    () => `it is not ready: ${body}`,
    async () => {
      const told = await service.readiness();
      body = told.body;
      return told.status === 503 && sentence.test(body);
    },
    limitMs,
  );
  await untilOnlyCause(service, cause, 2);
  const { health } = await askHealth(service);
  assert.equal(health.ready, false);
  assert.notEqual(health.status, 'healthy');
  assert.ok(
    health.problems.some((problem) => sentence.test(problem)),
    health.problems.join('\n'),
  );
  await service.until('the log says so', () =>
    service.said('the service is not ready').some(({ problem }) => sentence.test(String(problem))),
  );
}

describe('the truth about the cluster', () => {
  test('definitions that are missing at the start are named, with the command that brings them', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    removeDefinitions(bench);
    const service = await bench.prepare({});
    service.start();
    await untilNotReady(service, noMonitors, 'definitionsMissing');
    await applyCrds({ url: bench.sim.url });
    await service.untilReady(60_000);
    await service.untilLeading();
  });

  test('definitions that are removed later are told within 30 s', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    const service = await bench.prepare({});
    await service.startReady();
    await service.untilLeading();
    removeDefinitions(bench);
    await untilNotReady(service, noMonitors, 'definitionsMissing', 30_000);
  });

  test('a status that may not be written is a problem with the name of its monitor, told once', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    const allow = bench.sim.addAccessRule((_user, deed) =>
      'resource' in deed && deed.resource === 'cronjobmonitors' && deed.subresource === 'status' ? false : undefined,
    );
    const service = await bench.prepare({});
    await service.startReady();
    await service.untilLeading();
    const sentence = new RegExp(
      `the service may not patch cronjobmonitors/status \\(${namespace}/everything\\): give its account`,
    );
    let problems: readonly string[] = [];
    await service.until(
      () => `health says so: ${problems.join()}`,
      async () => {
        const { status, health } = await askHealth(service);
        problems = health.problems;
        return (
          status === 200 && health.status === 'degraded' && health.ready && problems.some((one) => sentence.test(one))
        );
      },
    );
    assert.equal((await service.readiness()).status, 200, 'all else is done');
    assert.equal(await service.metric('cronjob_monitor_symptom', { cause: 'statusRefused' }), 1);
    assert.equal(await service.metric('cronjob_monitor_symptom'), 1, 'and nothing else is wrong');
    const told = () =>
      service.said('the service has a problem').filter(({ problem }) => sentence.test(String(problem)));
    await service.until('the log says so', () => told().length === 1);
    const uids = bench.sim.objects.list(monitorKind).map(({ metadata }) => metadata.uid);
    putCronJob(bench.sim, 'more'); // the monitor is looked at again
    const known = async () => (await service.ask<{ items: unknown[] }>('/api/v1/cronjobs')).items.length === 1;
    await until('it was looked at again', known);
    for (const uid of uids) assert.ok(!service.log.some((line) => line['key'] === uid), service.tail());
    assert.equal(told().length, 1);
    allow();
    putMonitor(bench.sim, 'another', {});
    await service.until('it is over', async () => (await askHealth(service)).health.status === 'healthy', 60_000);
  });

  test('a Lease that may not be read makes it not ready while the API server answers', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    const allow = bench.sim.addAccessRule((_user, deed) =>
      'resource' in deed && deed.resource === 'leases' ? false : undefined,
    );
    const service = await bench.prepare({
      config: { 'leader-election.enabled': true, 'leader-election.namespace': namespace },
    });
    service.start();
    await untilNotReady(
      service,
      new RegExp(
        `the Lease ${namespace}/cronjob-monitor-controller cannot be read or written \\(forbidden\\): give the account`,
      ),
      'leaseRefused',
    );
    allow();
    await service.untilReady();
    await service.untilLeading();
  });
});
