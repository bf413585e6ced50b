import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { piecesOf, type SimCluster } from '@cronjob-monitor/simcluster';
import { namespace, until } from '../faults/harness/bench.ts';
import { killableDatabases } from '../faults/harness/database-servers.ts';
import {
  completeStatus,
  endedPodStatus,
  failedStatus,
  putCronJob,
  putJob,
  putPod,
  slotNumber,
} from '../faults/harness/objects.ts';
import { startServiceBench } from '../faults/harness/service-bench.ts';
import { readNumber } from '../store/rows.ts';

const withinMs = 5_000;
const monitor = { dataRetention: { storeLogs: true } };
const config = { 'storage.log-storage-enabled': true };

/** Runs, some of them failed with a log, so that there is work in flight. */
function putRuns(sim: SimCluster, count: number): void {
  const owner = putCronJob(sim, 'in-flight');
  for (let number = 0; number < count; number++) {
    const fails = number % 2 === 0;
    const job = putJob(sim, owner, { slotAt: slotNumber(number), status: fails ? failedStatus() : completeStatus() });
    if (!fails) continue;
    const pod = `${job.metadata.name}-x`;
    sim.logs.write({ namespace, pod, container: 'main' }, { pieces: piecesOf('it failed\n', Date.now()), ended: true });
    putPod(sim, job, { name: pod, status: endedPodStatus(1) });
  }
}

describe('an orderly end', () => {
  test('SIGINT ends standalone within 5 s, with work in flight and a stream open', async (t) => {
    const bench = await startServiceBench({ controllers: false, monitor });
    t.after(() => bench.close());
    const { sim, service, store } = bench;
    const stream = await fetch(`${service.api}/api/v1/events/stream`);
    assert.equal(stream.status, 200);
    putRuns(sim, 2_000);
    await until('work is in flight', async () => (await readNumber(store, 'select count(*) as n from executions')) > 0);
    const [end] = await Promise.all([service.end('SIGINT'), stream.text().catch(() => '')]);
    assert.deepEqual([end.code, end.signal], [0, null], service.tail());
    assert.ok(end.tookMs < withinMs, `it took ${Math.round(end.tookMs)} ms`);
  });

  test('SIGINT ends standalone within 5 s while the API server answers nothing', async (t) => {
    const bench = await startServiceBench({ controllers: false, monitor });
    t.after(() => bench.close());
    const { sim, proxy, service } = bench;
    sim.fault({ effect: { kind: 'hang' } });
    proxy.reset();
    putRuns(sim, 10);
    const end = await service.end('SIGINT');
    assert.deepEqual([end.code, end.signal], [0, null], service.tail());
    assert.ok(end.tookMs < withinMs, `it took ${Math.round(end.tookMs)} ms`);
  });

  for (const { name, skip, start } of killableDatabases()) {
    test(
      `SIGTERM ends a controller in order: its Lease is given back, its heartbeat says so, ${name}`,
      { skip },
      async (t) => {
        const server = await start();
        t.after(() => server.remove());
        const election = { 'leader-election.enabled': true, 'leader-election.namespace': namespace };
        const place = {
          entryPoint: 'controller',
          storage: server.settings,
          settings: server.settings,
          config: { ...config, ...election },
        } as const;
        const bench = await startServiceBench({ controllers: false, monitor }, place);
        t.after(() => bench.close());
        const { sim, service, store } = bench;
        putRuns(sim, 200);
        await until(
          'work is in flight',
          async () => (await readNumber(store, 'select count(*) as n from executions')) > 0,
        );
        const end = await service.end('SIGTERM');
        assert.equal(end.code, 0, service.tail());
        const lease = {
          apiVersion: 'coordination.k8s.io/v1',
          kind: 'Lease',
          namespace,
          name: 'cronjob-monitor-controller',
        };
        const spec = sim.objects.find(lease)?.spec as { holderIdentity?: string } | undefined;
        assert.equal(spec?.holderIdentity ?? '', '');
        assert.equal(await readNumber(store, 'select count(*) as n from heartbeats where "leading" <> 0'), 0);
      },
    );

    test(`SIGTERM ends a controller while its database is away, ${name}`, { skip }, async (t) => {
      const server = await start();
      t.after(() => server.remove());
      const place = { entryPoint: 'controller', storage: server.settings, settings: server.settings, config } as const;
      const bench = await startServiceBench({ controllers: false, monitor }, place);
      t.after(() => bench.close());
      // A term whose work cannot begin ends the process: it has to have begun.
      await bench.service.until(
        'its work has begun',
        () => bench.service.said('what this start found is judged, messages go out').length > 0,
      );
      await server.kill();
      putRuns(bench.sim, 50);
      await bench.service.until(
        'it notices',
        () => bench.service.said('the database is away, work waits for it').length > 0,
      );
      const end = await bench.service.end('SIGTERM');
      assert.equal(end.signal, null);
      assert.ok(end.tookMs < 3 * withinMs, `it took ${Math.round(end.tookMs)} ms`);
    });
  }
});
