import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { startBench, type Bench } from '../faults/harness/bench.ts';
import { killableDatabases, type KillableServer } from '../faults/harness/database-servers.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../faults/harness/objects.ts';
import { openBeside } from '../faults/checker/index.ts';
import { startFaultProxy, type FaultProxy } from '../servers/index.ts';
import { readNumber } from '../store/rows.ts';

/** Several tries fit into it: they come after 1 to 2, 1 to 4, 1 to 8 s. */
const watchedMs = 8_000;

for (const { name, skip, start } of killableDatabases()) {
  describe(`a database that cannot be had at the start, ${name}`, { skip }, () => {
    let server: KillableServer;
    let proxy: FaultProxy;
    let bench: Bench;
    before(async () => {
      server = await start();
      proxy = await startFaultProxy({ port: server.settings.port });
      bench = await startBench({ controllers: false });
    });
    after(async () => {
      await bench.close();
      await proxy.close();
      await server.remove();
    });

    test('it is waited for: not ready, one line for each change, then all is recorded', async () => {
      const { sim } = bench;
      proxy.accept(false);
      const storage = { ...server.settings, port: proxy.port };
      const service = await bench.prepare({ entryPoint: 'controller', storage });
      service.start();
      await service.until('its caches are full', () => service.said('all caches are filled').length === 1);
      const { status, body } = await service.readiness();
      assert.equal(status, 503);
      // The proxy takes the connection and closes it: no answer, from a place that is there.
      assert.match(
        body,
        new RegExp(`^database ".+" at ${storage.host}:${proxy.port} does not answer account ".+"|^nothing listens at`),
      );
      await wait(watchedMs);
      assert.equal((await service.readiness()).status, 503);
      assert.equal((await fetch(`${service.probes}/healthz`)).status, 200);
      assert.equal(service.said('The database is not reachable').length, 1, service.tail());

      const owner = putCronJob(sim, 'waits');
      putJob(sim, owner, { slotAt: slotNumber(0), status: completeStatus() });
      proxy.accept(true);
      await service.untilReady();
      await service.untilLeading();
      const store = openBeside(server.settings);
      await service.until(
        'the run is recorded',
        async () => (await readNumber(store, 'select count(*) as n from executions')) === 1,
      );
      await store.close();
      assert.equal(service.said('The database is not reachable').length, 1);
      assert.equal(service.said('The database is connected').length, 1, service.tail());
      await service.end();
    });

    test('a wrong password is an error for a person, told once, and it keeps trying', async () => {
      const storage = { ...server.settings, password: 'not this one' };
      const service = await bench.prepare({ entryPoint: 'controller', storage });
      service.start();
      await service.until('it is told', () => service.said('The database refuses us').length === 1);
      await wait(watchedMs);
      const [line, ...more] = service.said('The database refuses us');
      assert.equal(line?.level, 'error');
      assert.equal(more.length, 0);
      assert.equal((await service.readiness()).status, 503);
      assert.ok(service.running);
      assert.ok(!JSON.stringify(service.log).includes('not this one'));
      await service.end();
    });
  });
}
