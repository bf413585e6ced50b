import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startBench, until } from '../../faults/harness/bench.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../../faults/harness/objects.ts';
import { askHealth } from './told.ts';

const another =
  /^another installation, ".+" \(its database is of .+Z\), watches this cluster too: remove one of the two/;

describe('two installations on one cluster', () => {
  test('the younger one is not ready, says which one is there, and neither judges nor writes; it may be allowed', async (t) => {
    const bench = await startBench({ controllers: false });
    t.after(() => bench.close());
    const older = await bench.prepare({});
    await older.startReady();
    await older.untilLeading();
    const writer = () => {
      const [monitor] = bench.sim.objects.list({ apiVersion: 'cronjob-monitor.io/v1alpha1', kind: 'CronJobMonitor' });
      return (monitor?.['status'] as { writtenBy?: { since: string } } | undefined)?.writtenBy?.since;
    };
    await until('the status says who wrote it', () => writer() !== undefined);
    const since = writer();

    const younger = await bench.prepare({ storage: bench.sqlite('younger.db') });
    younger.start();
    // Both run on this host, so the name is the same: what the older one writes from now on gives it away.
    const owner = putCronJob(bench.sim, 'shared');
    let slot = 0;
    await younger.until(
      'it is not ready',
      async () => {
        putJob(bench.sim, owner, { slotAt: slotNumber(++slot), status: completeStatus() });
        const { status, body } = await younger.readiness();
        return status === 503 && body.split('\n').some((line) => another.test(line));
      },
      60_000,
    );
    await younger.until('its health says so', async () => {
      const { health } = await askHealth(younger);
      return !health.ready && health.problems.some((problem) => another.test(problem));
    });
    await younger.until('its log says so', () =>
      younger.said('the service is not ready').some(({ problem }) => another.test(String(problem))),
    );
    assert.equal((await older.readiness()).status, 200, 'the older one works on');
    await until('the older one writes', () => writer() === since);

    const allowed = await bench.prepare({
      storage: bench.sqlite('allowed.db'),
      config: { 'cluster.shared-with-another': true },
    });
    await allowed.startReady();
    await allowed.untilLeading();
  });
});
