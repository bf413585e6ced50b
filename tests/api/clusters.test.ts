import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import {
  alertHistorySortKeys,
  alertSortKeys,
  type AlertList,
  type ClusterList,
  type CronJobDetail,
  type CronJobList,
  type IncidentList,
} from '@cronjob-monitor/shared/contract';
import { ask, disagreements, testSettings, type Answer } from '@cronjob-monitor/apiserver/testing';
import type { Cluster, Identity } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  describeSelf,
  migrate,
  openStore,
  putClusterState,
  schemaOpener,
  type ServerSettings,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { testDatabases } from '../store/databases.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { schemas } from './schemas.ts';
import { seedFleet } from './seed.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const api1 = '/api/v1';

for (const database of testDatabases().filter(({ name }) => name !== 'sqlite')) {
  describe(`several clusters on one ${database.name}`, { skip: database.skip ?? false }, () => {
    const stores: Store[] = [];
    let api: ApiUnderTest;
    let settings: ServerSettings[];

    before(async () => {
      settings = await schemas(database, 'eu', 'us', 'empty_one');
      const names = ['eu', 'us-east', undefined];
      for (const [index, one] of settings.entries()) {
        const store = openStore(one, deps);
        stores.push(store);
        await migrate(store, { version: 'test' });
        if (index === 2) continue; // its controller has not led yet
        const { epoch } = await seedFleet(store);
        await store.fenced(epoch, async (tx) => {
          await describeSelf(tx, { name: names[index], defaultTimeZone: 'Europe/Berlin' });
          await putClusterState(tx, 'clusterUid', `uid of ${names[index]}`);
        });
      }
      const [home] = settings as [ServerSettings];
      api = await serveApi({
        store: stores[0] as Store,
        cluster: aClusterOfOne(),
        clock: systemClock,
        settings: testSettings,
        openSchema: schemaOpener(home, deps),
      });
      await get('/clusters?cluster=us-east'); // a name that is not known yet is looked for
    });
    after(async () => {
      await api[Symbol.asyncDispose]();
      for (const store of stores) await store.close();
      await database.remove();
    });

    const get = async (path: string, method = 'GET'): Promise<Answer> => {
      const answer = await ask(api.port, `${api1}${path}`, { method });
      assert.deepEqual(disagreements(method, `${api1}${path}`, answer), [], path);
      return answer;
    };
    const read = async <T>(path: string): Promise<T> => {
      const answer = await get(path);
      assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      return answer.json() as T;
    };

    test('each schema is a cluster under the name that its leader gave it, the own one first', async () => {
      const { items } = await read<ClusterList>('/clusters');
      const [home, other] = items;
      const nameless = items.find(({ uid }) => uid === null);
      assert.deepEqual(
        items.filter(({ uid }) => uid !== null).map(({ name }) => name),
        ['eu', 'us-east'],
      );
      assert.deepEqual(
        [home?.home, items.filter((one) => one.home).length, nameless?.name],
        [true, 1, nameless?.schema],
      );
      const named = items.find(({ name }) => name === 'us-east');
      assert.equal(named?.uid, 'uid of us-east');
      assert.deepEqual([named.states, named.activeAlerts], [home?.states, home?.activeAlerts]);
      assert.ok(home && home.activeAlerts > 0 && other);
      assert.equal(named.problem, null);
    });

    test('a list without a cluster has the rows of all, in the order asked for, and counts them', async () => {
      const one = await read<CronJobList>('/cronjobs?cluster=eu');
      const both = await read<CronJobList>('/cronjobs');
      assert.ok(one.items.every((item) => item.cluster === undefined));
      assert.deepEqual(
        both.items.map(({ cluster, name }) => `${cluster} ${name}`),
        ['eu backup', 'us-east backup', 'eu etl', 'us-east etl'],
      );
      assert.equal(both.summary.warning, 2 * one.summary.warning);
      for (const [state, counted] of Object.entries(both.states)) {
        assert.equal(counted, 2 * (new Map(Object.entries(one.states)).get(state) ?? NaN), state);
      }
      const alerts = await read<AlertList>('/alerts');
      assert.equal(alerts.total, 2 * (await read<AlertList>('/alerts?cluster=us-east')).total);
      assert.equal(alerts.items.length, alerts.total);
      const incidents = await read<IncidentList>('/incidents');
      assert.equal(incidents.pagination.total, incidents.items.length);
      assert.deepEqual(new Set(incidents.items.map(({ cluster }) => cluster)), new Set(['eu', 'us-east']));
    });

    test('the pages of such a list are parts of it, whatever the order', async () => {
      for (const sort of ['name', '-name', 'status', '-status', 'lastRun', '-lastRun', 'successRate', '-nextRun']) {
        const whole = await read<CronJobList>(`/cronjobs?sort=${sort}`);
        const parts: CronJobList[] = [];
        for (const offset of [0, 1, 2, 3]) parts.push(await read(`/cronjobs?sort=${sort}&limit=1&offset=${offset}`));
        const keyOf = ({ cluster, name }: CronJobList['items'][number]): string => `${cluster} ${name}`;
        assert.deepEqual(
          parts.flatMap(({ items }) => items.map(keyOf)),
          whole.items.map(keyOf),
          sort,
        );
        assert.deepEqual(
          parts.map(({ pagination }) => [pagination?.total, pagination?.hasMore]),
          [
            [4, true],
            [4, true],
            [4, true],
            [4, false],
          ],
        );
      }
    });

    test('pages of alerts and incidents are parts of their list too, each row as its own cluster tells it', async () => {
      type Rows = { readonly items: readonly { readonly cluster?: string }[] };
      const sorts = [...alertSortKeys, ...alertSortKeys.map((key) => `-${key}`)];
      // The clock goes on between two requests, and a CronJob is due each minute.
      const readRows = async (path: string): Promise<Rows> => {
        const { items } = await read<Rows>(path);
        return { items: items.map((item) => ({ ...item, nextRun: undefined })) };
      };
      const lists = [
        ...sorts.map((sort) => `/alerts?sort=${sort}`),
        ...alertHistorySortKeys.map((sort) => `/alerts/history?sort=${sort}`),
        '/incidents?',
      ];
      for (const path of lists) {
        const whole = await readRows(`${path}&limit=100`);
        const pages: Rows[] = [];
        for (let offset = 0; offset < whole.items.length; offset++)
          pages.push(await readRows(`${path}&limit=1&offset=${offset}`));
        assert.deepEqual(
          pages.flatMap(({ items }) => items),
          whole.items,
          path,
        );
        for (const cluster of ['eu', 'us-east']) {
          const own = await readRows(`${path}&cluster=${cluster}&limit=100`);
          const there = whole.items.filter((row) => row.cluster === cluster);
          assert.deepEqual(
            there,
            own.items.map((item) => ({ cluster, ...item })),
            `${path}, ${cluster}`,
          );
        }
        assert.ok(whole.items.length > 1, `${path} has rows`);
      }
    });

    test('an API that is stopped while it looks for clusters begins none', async () => {
      const [home] = settings as [ServerSettings];
      const store = openStore(home, deps);
      const options = { store, cluster: aClusterOfOne(), clock: systemClock, settings: testSettings };
      const stopped = await serveApi({ ...options, openSchema: schemaOpener(home, deps) });
      await stopped[Symbol.asyncDispose]();
      await store.close();
      assert.deepEqual(
        stopped.lines.filter(({ message }) => message.includes('is shown')),
        [],
      );
    });

    test('a name that several clusters have is asked about, and one that a single cluster has is found there', async () => {
      const refused = await get('/cronjobs/prod/backup');
      assert.deepEqual([refused.status, refused.error().code], [409, 'AMBIGUOUS_CLUSTER']);
      assert.deepEqual(refused.error().details?.clusters, ['eu', 'us-east']);
      assert.equal((await get('/cronjobs/prod/backup/trigger', 'POST')).error().code, 'AMBIGUOUS_CLUSTER');
      const there = await read<CronJobDetail>('/cronjobs/prod/backup?cluster=us-east');
      assert.equal(there.name, 'backup');
      assert.equal((await get('/cronjobs/prod/nothing')).status, 404);
      assert.equal((await get('/cronjobs/prod/nothing?cluster=us-east')).status, 404);
    });

    test('a cluster that is not there is refused by its name, with those that are', async () => {
      for (const path of [
        '/cronjobs?cluster=mars',
        '/health?cluster=mars',
        '/cronjobs/prod/etl?cluster=mars&recent=3',
      ]) {
        const { details } = (await get(path)).error();
        const [problem] = details?.problems ?? [];
        assert.deepEqual([problem?.in, problem?.field], ['query', 'cluster'], path);
        assert.match(problem?.message ?? '', /"mars" is no cluster/);
        assert.match(problem?.allowed ?? '', /eu.*us-east/);
      }
      assert.equal((await get('/cronjobs?cluster=eu&cluster=us-east')).status, 400);
      assert.equal((await get('/cronjobs?cluster=')).status, 200);
    });

    test('who may not read another cluster hears of none', async () => {
      const rights = new Map([
        ['ana', new Set(['cronjobs'])],
        ['root', new Set(['cronjobs', 'clusters us-east'])],
      ]);
      const cluster = new Proxy(aClusterOfOne(), {
        get: (of, member) => {
          if (member === 'reviewToken') return async (user: string) => ({ user, uid: user, groups: [], extra: {} });
          if (member !== 'reviewAccess') return of[member as keyof Cluster];
          return async ({ user }: Identity, asked: { resource?: string; name?: string }) =>
            rights.get(user)?.has([asked.resource, asked.name].filter(Boolean).join(' ')) ?? false;
        },
      });
      const [home] = settings as [ServerSettings];
      await using guarded = await serveApi({
        store: stores[0] as Store,
        cluster,
        clock: systemClock,
        settings: { ...testSettings, authMode: 'token' },
        openSchema: schemaOpener(home, deps),
      });
      const as = (user: string, path: string): Promise<Answer> =>
        ask(guarded.port, `${api1}${path}`, { headers: { authorization: `Bearer ${user}` } });
      const readers = new Map([
        ['ana', ['eu']],
        ['root', ['eu', 'us-east']],
      ]);
      await as('root', '/stats?cluster=us-east');
      for (const [user, names] of readers) {
        const { items } = (await as(user, '/clusters')).json() as ClusterList;
        assert.deepEqual(
          items.map(({ name }) => name),
          names,
          user,
        );
        const list = (await as(user, '/cronjobs')).json() as CronJobList;
        assert.deepEqual([...new Set(list.items.map((item) => item.cluster))], names, user);
        assert.equal((await as(user, '/stats?cluster=us-east')).status, names.length === 2 ? 200 : 403, user);
        assert.equal((await as(user, '/cronjobs/prod/backup')).status, names.length === 2 ? 409 : 200, user);
      }
      assert.equal((await ask(guarded.port, `${api1}/cronjobs/prod/backup`, {})).status, 401);
    });

    test('an export is of the cluster that it names', async () => {
      const refused = await get('/cronjobs?format=csv');
      assert.deepEqual([refused.status, refused.error().details?.problems?.[0]?.field], [400, 'cluster']);
      const file = await get('/cronjobs?format=csv&cluster=us-east');
      assert.deepEqual([file.status, file.text.trim().split('\n').length], [200, 3]);
    });

    test('a page that would read too much of each cluster is refused', async () => {
      const refused = await get('/cronjobs?limit=500&offset=5000');
      assert.deepEqual([refused.status, refused.error().details?.problems?.[0]?.field], [400, 'offset']);
      assert.equal((await get('/cronjobs?limit=500&offset=5000&cluster=eu')).status, 200);
    });

    // Of MySQL no transaction locks a table so.
    if (database.name === 'postgres') {
      test('a cluster that does not answer in time is named, and the others are shown', async () => {
        const [, other] = stores as [Store, Store, Store];
        const locked = await other.sql.transaction();
        await locked.raw('set local idle_in_transaction_session_timeout = 0');
        await locked.raw('lock table cronjob_list, cluster_state, cronjobs in access exclusive mode');
        try {
          const startedMs = performance.now();
          for (let tries = 0; ; tries++) {
            const list = await read<CronJobList>(`/cronjobs?limit=10&recent=${tries + 1}`);
            if (list.missing) {
              assert.deepEqual(
                list.missing.map(({ cluster }) => cluster),
                ['us-east'],
              );
              assert.ok(list.items.length > 0 && list.items.every(({ cluster }) => cluster === 'eu'));
              break;
            }
            assert.ok(performance.now() - startedMs < 4_000, 'nothing is missing');
          }
          const begunMs = performance.now();
          for (const recent of [21, 22, 23]) {
            const [left] = (await read<CronJobList>(`/cronjobs?limit=10&recent=${recent}`)).missing ?? [];
            assert.match(
              left?.problem ?? '',
              /^it has answered nothing since 20.*, and is shown again as soon as it does$/,
            );
          }
          const { items } = await read<ClusterList>('/clusters');
          assert.deepEqual(
            items.filter(({ problem }) => problem !== null).map(({ name }) => name),
            ['us-east'],
          );
          const none = await get('/cronjobs/prod/nothing');
          assert.equal(none.status, 404);
          assert.match(
            none.error().message,
            /no monitor selects it; us-east could not be asked: it has answered nothing since/,
          );
          assert.deepEqual(
            none.error().details?.missing?.map(({ cluster }) => cluster),
            ['us-east'],
          );
          const found = await get('/cronjobs/prod/backup');
          assert.deepEqual([found.status, found.headers['x-missing-clusters']], [200, 'us-east']);
          assert.ok(performance.now() - begunMs < 2_500, 'none of them waits 3 s for it again');
        } finally {
          await locked.rollback();
        }
        for (let tries = 0; (await read<CronJobList>('/cronjobs')).missing; tries++) {
          assert.ok(tries < 100, 'it answers, and is left out all the same');
          await systemClock.sleep(100);
        }
        assert.equal((await get('/cronjobs/prod/backup')).error().code, 'AMBIGUOUS_CLUSTER');
      });
    }

    test('another cluster is only read here, and its configuration is not ours', async () => {
      const calls = [
        ['/cronjobs/prod/etl/trigger', 'POST'],
        ['/cronjobs/prod/etl/history', 'DELETE'],
        ['/config', 'GET'],
      ] as const;
      for (const [path, method] of calls) {
        const answer = await get(`${path}?cluster=us-east`, method);
        assert.deepEqual([answer.status, answer.error().code], [403, 'READ_ONLY'], path);
        assert.match(answer.error().message, /us-east is only read here/);
      }
    });

    test('every page of a cluster can be read from the other', async () => {
      const paths = [
        '/admin/storage-stats',
        '/stats',
        '/overview',
        '/monitors',
        '/channels',
        '/silences',
        '/sla',
        '/tonight',
        '/coverage',
        '/wall',
      ];
      for (const path of [...paths, '/cronjobs/prod/backup/executions', '/alerts/history', '/slots?namespace=prod']) {
        const sign = path.includes('?') ? '&' : '?';
        const answer = await get(`${path}${sign}cluster=us-east`);
        assert.ok(answer.status === 200 || path.startsWith('/slots'), `${path}: ${answer.text.slice(0, 200)}`);
      }
    });

    // The driver of MySQL names its database in the protocol, in no statement.
    if (database.name === 'postgres') {
      test('a schema of any name is read where it is, and its name is no statement', async () => {
        const [home] = settings as [ServerSettings];
        const name = 'x"; drop schema us cascade; --';
        const hostile = openStore({ ...home, schema: name }, deps);
        try {
          await stores[0]?.sql.raw('create schema "x""; drop schema us cascade; --"');
          await migrate(hostile, { version: 'test' });
          await untilListed((schemas) => schemas.includes(name) && schemas.includes('us'));
        } finally {
          await hostile.close();
        }
      });
    }

    test('a cluster whose schema goes is no longer listed, and the others stay', async () => {
      const [, , gone] = stores;
      const schema = settings[2];
      const name = schema?.type === 'postgres' ? schema.schema : schema?.type === 'mysql' ? schema.database : '';
      await gone?.sql.raw(schema?.type === 'postgres' ? `drop schema ${name} cascade` : `drop database ${name}`);
      await untilListed((schemas) => !schemas.includes(String(name)));
    });

    /** Each look for clusters is a second after the last one, or later. */
    async function untilListed(isSo: (schemas: readonly string[]) => boolean): Promise<void> {
      let schemas: readonly string[] = [];
      for (let tries = 0; tries < 100; tries++) {
        assert.equal((await get('/stats?cluster=never')).status, 400); // looks anew
        schemas = (await read<ClusterList>('/clusters')).items.map(({ schema }) => schema);
        if (isSo(schemas)) return;
        await systemClock.sleep(200);
      }
      assert.fail(`listed are ${schemas.join(', ')}`);
    }
  });
}
