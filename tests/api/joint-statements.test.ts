import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import { after, before, describe, test } from 'node:test';
import { ask, testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { schemaOpener, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { schemas } from './schemas.ts';
import { seedCluster } from './seed.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const lists = [
  '/clusters',
  ...['', '?sort=-lastRun&limit=2', '?sort=-nextRun', '?search=b', '?recent=5&limit=3'].map(
    (query) => `/cronjobs${query}`,
  ),
  '/alerts',
  '/alerts/history',
  '/incidents',
  '/monitors',
  '/silences',
  '/channels',
];

const takesNamespace = /^\/(?:clusters|cronjobs|alerts|incidents|monitors)/;

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`statements of lists on one ${database.name}`, { skip: database.skip ?? false }, () => {
    const stores: Store[] = [];
    let api: ApiUnderTest;
    let statements = 0;
    let questions = 0;
    const observer = {
      statement: () => {
        statements += 1;
        return () => {};
      },
      repeated: () => {},
      schemaFound: () => {},
    };

    const names = ['home', 'one', 'two', 'three', 'four', 'five', 'six', 'seven'];
    let settings: ServerSettings[];

    const addCluster = async (name: string): Promise<void> => {
      const { store } = await seedCluster(settings[names.indexOf(name)] as ServerSettings, name);
      stores.push(store);
    };

    before(async () => {
      settings = await schemas(database, ...names);
      const [home] = settings as [ServerSettings];
      for (const name of names.slice(0, 4)) await addCluster(name);
      api = await serveApi({
        store: stores[0] as Store,
        cluster: aClusterOfOne(),
        clock: systemClock,
        settings: { ...testSettings, clusterName: 'home', costlyRequestsPerMinute: 1_000 },
        openSchema: schemaOpener(home, { ...deps, observer }),
      });
    });
    after(async () => {
      await api[Symbol.asyncDispose]();
      for (const store of stores) await store.close();
      await database.remove();
    });

    const get = async (path: string): Promise<unknown> => {
      const answer = await ask(api.port, `/api/v1${path}`, { method: 'GET' });
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return answer.json();
    };
    /**
     * Of the least of three requests: what runs by the clock also asks now and then. Where that is more than `enough`, of the least of
     * sixty: a joint statement that a slow machine holds up is asked again for each cluster by itself.
     */
    const statementsOf = async (path: string, enough = Infinity): Promise<number> => {
      const counts: number[] = [];
      // Each one is another question: an answer that is kept costs nothing.
      const within = (): string => `${path.includes('?') ? '&' : '?'}namespace=prod,n${(questions += 1)}`;
      for (let round = 0; round < 3 || (round < 60 && Math.min(...counts) > enough); round++) {
        const before = statements;
        await get(takesNamespace.test(path) ? `${path}${within()}` : path);
        counts.push(statements - before);
      }
      return Math.min(...counts);
    };
    const statementsOfLists = async (
      newest: string,
      enough?: ReadonlyMap<string, number>,
    ): Promise<Map<string, number>> => {
      // A name that is not known yet is looked for, once in a second.
      const until = AbortSignal.timeout(30_000);
      while ((await ask(api.port, `/api/v1/cronjobs?cluster=${newest}`, {})).status !== 200) {
        until.throwIfAborted();
        await setTimeout(100);
      }
      const found = new Map<string, number>();
      for (const path of lists) found.set(path, await statementsOf(path, enough?.get(path)));
      return found;
    };

    test('a list takes no more of them for seven clusters than for three', async () => {
      const few = await statementsOfLists('three');
      for (const name of names.slice(4)) await addCluster(name);
      // One more for each cluster would be four more; what the clock asks meanwhile is one or two.
      const most = new Map([...few].map(([path, count]) => [path, count + 3]));
      const many = await statementsOfLists('seven', most);
      for (const [path, count] of few) {
        process.stdout.write(`${path}: ${count} statements of three other clusters, ${many.get(path)} of seven\n`);
      }
      const grown = [...many].filter(([path, count]) => count > (most.get(path) ?? 0));
      assert.deepEqual(grown, []);
      assert.ok([...few.values()].every((count) => count > 0));
    });
  });
}
