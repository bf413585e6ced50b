import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ServerSettings } from '@cronjob-monitor/shared/store';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import { readNumber } from '../store/rows.ts';
import { listStoredRuns, untilAllRecorded } from './checker/index.ts';
import { until } from './harness/bench.ts';
import { timesOf } from './harness/counts.ts';
import { killableDatabases, type KillableServer } from './harness/database-servers.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from './harness/objects.ts';
import { benchOfSuite } from './harness/service-bench.ts';
import { Bystander } from './harness/stuck-transactions.ts';

/** A lock that is held longer than the service waits for one takes its time: it comes once in five. */
const kinds = ['deadlock', 'serialization', 'lockTimeout', 'deadlock', 'serialization'] as const;
type Kind = (typeof kinds)[number];

/** F34: what makes a whole transaction begin anew. */
for (const { name, skip, start } of killableDatabases()) {
  describe(`F34, transactions that fail for the sake of others, ${name}`, { skip }, () => {
    let server: KillableServer;
    let others: Bystander;
    const bench = benchOfSuite({ controllers: false }, async () => {
      server = await start();
      const settings: ServerSettings = server.settings;
      return { entryPoint: 'controller', storage: settings, settings };
    });
    const owners = new Map<Kind, { readonly owner: KubeObject; readonly id: number }>();
    let runs = 0;

    before(async () => {
      others = new Bystander(server.settings);
      for (const kind of new Set(kinds)) {
        const owner = putCronJob(bench().sim, `fails-by-${kind.toLowerCase()}`);
        const known = 'select coalesce(max(id), 0) as n from cronjobs where name = ?';
        const idOf = (): Promise<number> => readNumber(bench().store, known, [owner.metadata.name]);
        await until('the CronJob is known', async () => (await idOf()) > 0);
        owners.set(kind, { owner, id: await idOf() });
      }
      // Each day has figures before two of them are wanted at once.
      for (const { owner } of owners.values()) endRun(owner);
      await untilAllRecorded(bench().reader, bench().store, { over: runs, withinMs: 20_000 });
      await others.failInserts(owners.get('serialization')?.id ?? NaN);
    });
    after(async () => {
      await others.close();
      await server.remove();
    });

    const times = Math.max(timesOf({ ci: 20, soak: 200 }), new Set(kinds).size);
    for (let time = 0; time < times; time++) {
      const kind = kinds[time % kinds.length] ?? assert.fail();
      test(`${kind}: the whole of it runs again, and there is one row and one increment (${time + 1})`, async () => {
        const { service, reader, store } = bench();
        const { owner, id } = owners.get(kind) ?? assert.fail();
        const repeated = async (): Promise<number> =>
          (await service.metric('cronjob_monitor_db_retries_total', { reason: kind })) ?? 0;
        const before = await repeated();
        const happened = async (): Promise<void> =>
          until('a transaction runs again', async () => (await repeated()) > before, 20_000);
        if (kind === 'deadlock') await others.deadlock(id, () => endRun(owner));
        else if (kind === 'serialization') endRun(owner);
        else
          await others.holdCronJob(id, async () => {
            endRun(owner);
            await happened();
          });
        await happened();
        await untilAllRecorded(reader, store, { over: runs, withinMs: 20_000 });
        assert.equal((await listStoredRuns(store)).length, runs);
      });
    }

    test('the service took none of it for an outage', () => {
      assert.deepEqual(bench().service.said('the database is away, work waits for it'), []);
    });

    function endRun(owner: KubeObject): void {
      putJob(bench().sim, owner, { slotAt: slotNumber(++runs), status: completeStatus() });
    }
  });
}
