import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CronJobList } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import { inSchema, openStore, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import { namespace, startBench, until, type Bench } from '../faults/harness/bench.ts';
import { timesOf } from '../faults/harness/counts.ts';
import { completeStatus, putCronJob, putJob, slotNumber } from '../faults/harness/objects.ts';
import { cutOff } from '../faults/harness/replicas.ts';
import { startFaultProxy, type FaultProxy, type MonitorProcess } from '../servers/index.ts';
import { testDatabases } from '../store/databases.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const names = ['eu', 'us', 'ap'] as const;

interface Installation {
  readonly name: string;
  readonly bench: Bench;
  readonly cronJob: KubeObject;
  readonly database: FaultProxy;
  readonly process: MonitorProcess;
  readonly store: Store;
}

/** What befalls one of them; each gives what ends it. */
const troubles: readonly {
  readonly what: string;
  readonly begin: (one: Installation) => Promise<() => Promise<void>>;
}[] = [
  {
    what: 'is killed',
    begin: async ({ process }) => {
      await process.kill();
      return () => process.startReady();
    },
  },
  {
    what: 'stands still',
    begin: async ({ process }) => {
      process.signal('SIGSTOP');
      return async () => process.signal('SIGCONT');
    },
  },
  {
    what: 'is cut off from the database',
    begin: async ({ database }) => {
      const mend = cutOff(database);
      return async () => mend();
    },
  },
];

for (const database of testDatabases().filter(({ name }) => name === 'postgres')) {
  describe('three clusters of one PostgreSQL that have the same names', () => {
    const all: Installation[] = [];
    let runs = 0;

    before(async () => {
      const settings = await database.fresh();
      if (settings.type !== 'postgres') throw new Error('this is no PostgreSQL');
      for (const name of names) {
        const bench = await startBench({ controllers: false });
        const proxy = await startFaultProxy({ port: settings.port });
        const key = join(bench.folder, 'key');
        writeFileSync(key, 'a key of more than thirty-two bytes');
        const process = await bench.prepare({
          storage: { ...settings, port: proxy.port },
          config: {
            'cluster.name': name,
            'cluster.show-others': true,
            'cluster.actions-key-file': key,
            'storage.postgres.schema': name,
          },
        });
        const store = openStore(inSchema(settings, name), deps);
        all.push({ name, bench, cronJob: putCronJob(bench.sim, 'backup'), database: proxy, process, store });
      }
      await Promise.all(all.map(({ process }) => process.startReady(120_000)));
      for (const { name, process } of all) {
        await until(`${name} shows the CronJobs of all`, async () => (await listed(process)).length === 3, 60_000);
      }
    });
    after(async () => {
      for (const { bench, database: proxy, store } of all) {
        await bench.close();
        await proxy.close();
        await store.close();
      }
      await database.remove();
    });

    const listed = async (process: MonitorProcess): Promise<readonly (string | undefined)[]> => {
      const list = await process.ask<CronJobList>('/api/v1/cronjobs').catch(() => undefined); // it has no rows yet
      return list?.missing ? [] : (list?.items.map(({ cluster }) => cluster) ?? []);
    };
    const recorded = async ({ store }: Installation): Promise<number> =>
      Number((await store.sql('executions').count({ n: '*' }))[0]?.['n']);
    const jobsIn = ({ bench }: Installation): number =>
      bench.sim.objects.list({ apiVersion: 'batch/v1', kind: 'Job', namespace }).length;
    /** A run ends in every cluster. */
    const runEverywhere = (): void => {
      runs++;
      for (const { bench, cronJob } of all)
        putJob(bench.sim, cronJob, { slotAt: slotNumber(runs), status: completeStatus() });
    };

    const turns = timesOf({ ci: 1, soak: 3 }) * names.length;
    for (let turn = 0; turn < turns; turn++) {
      const at = turn % names.length;
      const trouble = troubles[(turn + Math.floor(turn / names.length)) % troubles.length];
      if (!trouble) continue;
      test(`${names[at]} ${trouble.what}: the others record, show and act as alone, and it catches up`, async () => {
        const victim = all[at] as Installation;
        const others = all.filter((one) => one !== victim) as [Installation, Installation];
        const before = await Promise.all(all.map(recorded));
        const end = await trouble.begin(victim);
        try {
          runEverywhere();
          for (const one of others) {
            const wanted = (before[all.indexOf(one)] ?? NaN) + 1;
            await until(`${one.name} records its run`, async () => (await recorded(one)) >= wanted);
          }
          assert.equal(await recorded(victim), before[at]);
          const [asked, acting] = others;
          assert.deepEqual((await listed(asked.process)).toSorted(), names.toSorted());
          const jobs = all.map(jobsIn);
          const url = `${asked.process.api}/api/v1/cronjobs/${namespace}/backup/trigger?cluster=${acting.name}&force=true`;
          const answer = await fetch(url, { method: 'POST' });
          assert.equal(answer.status, 200, await answer.text());
          assert.deepEqual(
            all.map((one, index) => jobsIn(one) - (jobs[index] ?? NaN)),
            all.map((one) => Number(one === acting)),
          );
        } finally {
          await end();
        }
        await until(
          `${victim.name} catches up`,
          async () => (await recorded(victim)) >= (before[at] ?? NaN) + 1,
          60_000,
        );
        await until('it serves again', async () => (await listed(victim.process)).length === 3, 60_000);
      });
    }
  });
}
