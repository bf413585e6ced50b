import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { quickLease, startBench } from '../../faults/harness/bench.ts';
import type { MonitorProcess, StoragePlace } from '../../servers/index.ts';
import { testDatabases } from '../../store/databases.ts';
import { untilOnlyCause } from './told.ts';

const another = /^the controller of another cluster \(".+", seen last at .+Z\) leads on the tables of this database/;

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`controllers of two clusters that were given one ${database.name}`, { skip: database.skip ?? false }, () => {
    test('do not take the lead from each other: the second waits, also while the first is away, until that has ended in order', async (t) => {
      const storage = (await database.fresh()) as StoragePlace;
      t.after(() => database.remove());
      const inCluster = async (seed: number): Promise<MonitorProcess> => {
        const bench = await startBench({ controllers: false, seed });
        t.after(() => bench.close());
        return bench.prepare({ entryPoint: 'controller', storage, config: quickLease });
      };
      const first = await inCluster(1);
      await first.startReady(120_000);
      await first.untilLeading();
      const second = await inCluster(2);
      second.start();
      await second.until('its log says why it waits', () =>
        second.saidOfLate('the service is not ready').some(({ problem }) => another.test(String(problem))),
      );
      await untilOnlyCause(second, 'secondInstallation', 1);
      const { status, body } = await second.readiness();
      assert.equal(status, 503);
      assert.ok(
        body.split('\n').some((line) => another.test(line)),
        body,
      );

      await first.kill();
      await wait(5_000);
      assert.equal(second.saidOfLate('this replica leads').length, 0, 'a controller that was killed comes back');
      await first.startReady(120_000);
      await first.untilLeading();
      assert.ok(second.running, 'it waits');

      await first.end();
      await second.untilLeading();
    });
  });
}
