import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { CronJobList } from '@cronjob-monitor/shared/contract';
import { inSchema, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { listStoredRuns, openBeside } from '../faults/checker/index.ts';
import { namespace, quickLease, until } from '../faults/harness/bench.ts';
import { timesOf } from '../faults/harness/counts.ts';
import { cutOff } from '../faults/harness/replicas.ts';
import { MonitorProcess, startFaultProxy, type FaultProxy } from '../servers/index.ts';
import { testDatabases, type TestDatabase } from '../store/databases.ts';
import { startRealPlace, startSimulatedPlace, type Place } from './three-clusters/places.ts';

const names = ['eu', 'us', 'ap'] as const;
const catchesUpMs = 60_000;

/** The service of one cluster, which keeps its rows beside those of the others. */
interface Installation {
  readonly name: string;
  readonly place: Place;
  readonly database: FaultProxy;
  readonly process: MonitorProcess;
  readonly store: Store;
}

/** What befalls one of them; each gives what ends it. */
interface Trouble {
  readonly what: string;
  /** No run can be started in that cluster meanwhile. */
  readonly stopsRuns?: boolean;
  readonly begin: (one: Installation) => Promise<() => Promise<void>>;
}

const troubles: readonly [Trouble, Trouble, Trouble, Trouble] = [
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
  {
    what: 'has an API server that answers no more',
    stopsRuns: true,
    begin: ({ place }) => place.standStill(),
  },
];

const servers = testDatabases().filter(({ name }) => name !== 'sqlite');
/** Two control planes of Kubernetes itself and a simulated one; every database has its turn on them. */
const planes = [await startRealPlace(), await startRealPlace()];
const places = planes.filter((one): one is Place => !('skipped' in one));
const skipped = planes.find((one) => 'skipped' in one);
after(async () => {
  for (const place of places) await place.close();
});

for (const [round, database] of servers.entries()) {
  const skip = database.skip ?? (skipped && 'skipped' in skipped ? `Go: ${skipped.skipped}` : false);
  describe(`three clusters that have the same names, on one server of ${database.name}`, { skip }, () => {
    const all: Installation[] = [];
    let simulated: Place | undefined;

    before(async () => {
      simulated = await startSimulatedPlace();
      const settings = await settingsOf(database);
      for (const [at, place] of [...places, simulated].entries())
        all.push(await installed(names[at] ?? '', place, settings[at] as ServerSettings));
      await Promise.all(all.map(({ process }) => process.startReady(120_000)));
      for (const { name, process } of all)
        await until(`${name} shows the CronJobs of all`, async () => (await listed(process)).length === 3, catchesUpMs);
    });
    after(async () => {
      for (const { process, database: proxy, store } of all) {
        await process.remove();
        await proxy.close();
        await store.close();
      }
      await simulated?.close();
      await database.remove();
    });

    const turns = timesOf({ ci: 1, soak: 4 }) * names.length;
    for (let turn = 0; turn < turns; turn++) {
      const at = turn % names.length;
      // Another trouble for each cluster in each round, and the API server of the first one in the second.
      const trouble = troubles[(turn + 3 * round + Math.floor(turn / names.length)) % troubles.length] as Trouble;
      test(`${names[at]} ${trouble.what}: the others record, show and act as alone, and it catches up`, async () => {
        const victim = all[at] as Installation;
        const [asked, acting] = all.filter((one) => one !== victim) as [Installation, Installation];
        const end = await trouble.begin(victim);
        let ofVictim: string | undefined;
        try {
          if (!trouble.stopsRuns) ofVictim = await victim.place.runOnce();
          for (const one of [asked, acting]) {
            const run = await one.place.runOnce();
            await until(`${one.name} records its run`, () => hasSucceeded(one, run));
          }
          if (ofVictim !== undefined) assert.equal(await hasSucceeded(victim, ofVictim), false);
          assert.deepEqual((await listed(asked.process)).toSorted(), names.toSorted());
          const others = [asked, acting].map(({ place }) => place);
          const before = await Promise.all(others.map((place) => place.countJobs()));
          const url = `${asked.process.api}/api/v1/cronjobs/${namespace}/backup/trigger?cluster=${acting.name}&force=true`;
          const answer = await fetch(url, { method: 'POST' });
          assert.equal(answer.status, 200, await answer.text());
          const now = await Promise.all(others.map((place) => place.countJobs()));
          assert.deepEqual(
            now.map((count, index) => count - (before[index] ?? NaN)),
            [0, 1],
          );
        } finally {
          await end();
        }
        const missing = ofVictim ?? (await victim.place.runOnce());
        await until(`${victim.name} catches up`, () => hasSucceeded(victim, missing), catchesUpMs);
        await until('it serves again', async () => (await listed(victim.process)).length === 3, catchesUpMs);
      });
    }
  });
}

/** PostgreSQL keeps three clusters in schemas of one database, MySQL and MariaDB in three databases. */
async function settingsOf(database: TestDatabase): Promise<ServerSettings[]> {
  const first = await database.fresh();
  if (first.type === 'postgres') return names.map((name) => inSchema(first, name));
  const others = [await database.fresh(), await database.fresh()];
  return [first, ...others] as ServerSettings[];
}

async function installed(name: string, place: Place, settings: ServerSettings): Promise<Installation> {
  const proxy = await startFaultProxy({ port: settings.port });
  const key = join(place.folder, 'key');
  writeFileSync(key, 'a key of more than thirty-two bytes');
  const process = await MonitorProcess.prepare({
    entryPoint: 'standalone',
    kubeconfig: place.kubeconfig,
    storage: { ...settings, port: proxy.port },
    config: {
      ...quickLease,
      'cluster.name': name,
      'cluster.show-others': true,
      'cluster.actions-key-file': key,
      ...(settings.type === 'postgres' && { 'storage.postgres.schema': settings.schema ?? name }),
    },
  });
  return { name, place, database: proxy, process, store: openBeside(settings) };
}

async function listed(process: MonitorProcess): Promise<readonly (string | undefined)[]> {
  const list = await process.ask<CronJobList>('/api/v1/cronjobs').catch(() => undefined); // it has no rows yet
  return list?.missing ? [] : (list?.items.map(({ cluster }) => cluster) ?? []);
}

async function hasSucceeded({ store }: Installation, jobUid: string): Promise<boolean> {
  return (await listStoredRuns(store)).some((run) => run.jobUid === jobUid && run.status === 'success');
}
