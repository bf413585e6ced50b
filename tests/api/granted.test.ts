import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { ask, testSettings, type Answer } from '@cronjob-monitor/apiserver/testing';
import type { ClusterList, CronJobList, TriggerResult } from '@cronjob-monitor/shared/contract';
import { systemClock } from '@cronjob-monitor/shared/process';
import { schemaOpener, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import { ownServers, type OwnServer } from '../store/servers.ts';
import { serveApi, type ApiUnderTest } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';
import { seedCluster } from './seed.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };
const key = createSecretKey(Buffer.from('a key of more than thirty-two bytes'));
const clusters = ['eu', 'us', 'ap'] as const;
type ClusterName = (typeof clusters)[number];

/**
 * An account for each cluster, with the rights that docs/install.md names and no other. The service of eu shows us and acts there; ap has
 * granted nothing.
 */
for (const kind of ownServers) {
  describe(`accounts with the documented rights alone, ${kind.name}`, { skip: kind.skip }, () => {
    const isPostgres = kind.name === 'postgres';
    const stores = new Map<ClusterName, Store>();
    let own: OwnServer;
    let eu: ApiUnderTest;
    let us: ApiUnderTest;

    const nameOf = (cluster: ClusterName): string => (isPostgres ? cluster : `monitor_${cluster}`);
    const settingsOf = (cluster: ClusterName): ServerSettings =>
      own.settings(undefined, {
        username: `account_${cluster}`,
        password: 'secret',
        ...(isPostgres ? { schema: cluster } : { database: nameOf(cluster) }),
      });
    const storeOf = (cluster: ClusterName): Store => stores.get(cluster) as Store;
    const get = (path: string, method = 'GET'): Promise<Answer> => ask(eu.port, `/api/v1${path}`, { method });

    const makeAccount = async (cluster: ClusterName): Promise<void> => {
      const [account, name] = [`account_${cluster}`, nameOf(cluster)];
      const statements = isPostgres
        ? [`create role ${account} login password 'secret'`, `create schema ${name} authorization ${account}`]
        : [
            `create user ${account}@'%' identified by 'secret'`,
            `create database ${name}`,
            `grant all on ${name}.* to ${account}@'%'`,
          ];
      for (const statement of statements) await own.run(statement);
    };
    const grantReading = async (): Promise<void> => {
      const statements = isPostgres
        ? [
            'grant usage on schema us to account_eu',
            'grant select on all tables in schema us to account_eu',
            'alter default privileges for role account_us in schema us grant select on tables to account_eu',
          ]
        : [`grant select on monitor_us.* to account_eu@'%'`];
      for (const statement of statements) await own.run(statement);
    };
    const grantActing = async (): Promise<void> => {
      const to = isPostgres ? 'us.actions to account_eu' : `monitor_us.actions to account_eu@'%'`;
      await own.run(`grant select, insert, update on ${to}`);
    };

    before(async () => {
      own = await kind.start();
      for (const cluster of clusters) await makeAccount(cluster);
      // Before the first start of its controller: what is made later falls under the default privileges.
      await grantReading();
      for (const cluster of clusters) {
        stores.set(cluster, (await seedCluster(settingsOf(cluster), cluster)).store);
      }
      const serve = (cluster: ClusterName): Promise<ApiUnderTest> =>
        serveApi({
          store: storeOf(cluster),
          cluster: aClusterOfOne(),
          clock: systemClock,
          settings: { ...testSettings, clusterName: cluster, actionsKey: key },
          openSchema: schemaOpener(settingsOf(cluster), deps),
        });
      eu = await serve('eu');
      us = await serve('us');
    });
    after(async () => {
      await eu[Symbol.asyncDispose]();
      await us[Symbol.asyncDispose]();
      for (const store of stores.values()) await store.close();
      await own.server.remove();
    });

    test('the cluster that has granted reading is shown with all its pages, and the one that has not is not heard of', async () => {
      assert.equal((await get('/stats?cluster=us')).status, 200); // looks for it
      const { items } = (await get('/clusters')).json() as ClusterList;
      assert.deepEqual(
        items.map(({ name, problem }) => [name, problem]),
        [
          ['eu', null],
          ['us', null],
        ],
      );
      const list = (await get('/cronjobs')).json() as CronJobList;
      assert.deepEqual([...new Set(list.items.map(({ cluster }) => cluster))], ['eu', 'us']);
      assert.equal(list.missing, undefined);
      const pages = [
        '/overview',
        '/alerts',
        '/incidents',
        '/monitors',
        '/channels',
        '/silences',
        '/sla',
        '/tonight',
        '/wall',
      ];
      for (const path of [
        ...pages,
        '/admin/storage-stats',
        '/cronjobs/prod/backup',
        '/cronjobs/prod/backup/executions',
      ]) {
        const answer = await get(`${path}?cluster=us`);
        assert.equal(answer.status, 200, `${path}: ${answer.text}`);
      }
    });

    test('without the right to its table of actions the other cluster is only read, and with it the action is done there', async () => {
      const trigger = (): Promise<Answer> => get('/cronjobs/prod/backup/trigger?cluster=us', 'POST');
      // CLUSTER_SILENT: the other service has not said yet that it is there.
      for (let tries = 0; (await trigger()).error().code !== 'READ_ONLY'; tries++) {
        assert.ok(tries < 50, (await trigger()).text);
        await systemClock.sleep(200);
      }
      await grantActing();
      const answer = await trigger();
      assert.equal(answer.status, 200, answer.text);
      assert.match((answer.json() as TriggerResult).jobName, /^backup-manual-/);
      assert.equal((await get('/cronjobs/prod/backup/suspend?cluster=us', 'POST')).status, 200);
    });

    test('whatever goes beyond is refused by the database', async () => {
      const as = (cluster: ClusterName, sql: string): Promise<unknown> => storeOf(cluster).sql.raw(sql);
      const [ofEu, ofUs, ofAp] = clusters.map(nameOf);
      const beyond = [
        ['eu', `update ${ofUs}.cronjobs set name = name`],
        ['eu', `update ${ofUs}.leader set epoch = epoch + 1`],
        ['eu', `delete from ${ofUs}.actions`],
        ['eu', `drop table ${ofUs}.actions`],
        ['eu', `create table ${ofUs}.more (id int)`],
        ['eu', `select name from ${ofAp}.cronjobs`],
        ['us', `select name from ${ofEu}.cronjobs`],
        ['us', `select id from ${ofEu}.actions`],
      ] as const;
      for (const [cluster, sql] of beyond) {
        await assert.rejects(
          as(cluster, sql),
          (error: { code?: string }) => error.code === 'refused',
          `${cluster}: ${sql}`,
        );
      }
    });
  });
}
