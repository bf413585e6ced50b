import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { SimCluster } from '@cronjob-monitor/simcluster';
import type { FaultProxy } from '../servers/index.ts';
import { namespace } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases } from './harness/database-servers.ts';
import { cutOff, type Replica } from './harness/replicas.ts';
import { shiftOfSuite } from './harness/shift.ts';

const givesUpWithinMs = 60_000;
/** Both ways in which a database cannot be reached. Each ends with the way back. */
const partitions: Readonly<Record<string, (proxy: FaultProxy) => () => void>> = {
  'answers nothing': cutOff,
  'refuses connections': (proxy) => {
    proxy.accept(false);
    proxy.reset();
    return () => proxy.accept(true);
  },
};
const databases = killableDatabases().filter(({ name }) => name === 'postgres');

/** F8: the database is away for the leader alone, and a healthy peer could lead. Most of it is waiting: they wait together. */
describe('F8, the leader is cut off from its database', { concurrency: true, skip: databases.length === 0 }, () => {
  const tries = Array.from({ length: timesOf({ ci: 2, soak: 10 }) }, (_, number) => number);
  for (const [database, time] of databases.flatMap((one) => tries.map((number) => [one, number] as const))) {
    const [what, cut] = Object.entries(partitions)[time % 2] ?? assert.fail();
    describe(`a database that ${what} (${time + 1})`, () => {
      const shift = shiftOfSuite(database, { count: 2 });

      test('it gives up within a minute, the other takes over, nothing is lost', async (t) => {
        const { bench } = shift();
        for (const replica of bench.replicas) putReadyPod(bench.sim, replica);
        await shift().alerts(80, 5);
        const leader = await bench.untilLed();
        await wait(1_000);
        const mend = cut(leader.database);
        const cutAt = Date.now();
        shift().senderGone();
        const { code } = await leader.process.ended(90_000);
        const [line] = leader.process.saidOfLate('the term as leader is over, the process ends');
        const gaveUpMs = Date.parse(String(line?.['time'])) - cutAt;
        const sentMs = (await shift().untilSuccessorSends(leader)) - cutAt;
        t.diagnostic(`it gave up after ${gaveUpMs} ms, the other sent after ${sentMs} ms`);
        assert.equal(code, 1, leader.process.tail());
        assert.equal(line?.['why'], 'the database is away and another replica is ready');
        assert.ok(gaveUpMs <= givesUpWithinMs, `${gaveUpMs} ms`);
        mend();
        await shift().untilAllReady();
        await shift().settle(t);
      });
    });
  }
});

/** As the cluster tells of a replica: by these labels it is seen by its peers. */
function putReadyPod(sim: SimCluster, { pod }: Replica): void {
  const labels = { 'app.kubernetes.io/name': 'cronjob-monitor', 'app.kubernetes.io/component': 'controller' };
  sim.objects.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: pod, namespace, labels },
    spec: { nodeName: 'node-1', containers: [{ name: 'controller', image: 'cronjob-monitor:1' }] },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] },
  });
}
