import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import {
  describeSelf,
  inSchema,
  migrate,
  openStore,
  schemaOpener,
  type ServerSettings,
  type Store,
} from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { Browser } from 'playwright-core';
import { serveApi, type ApiUnderTest } from '../../api/api-under-test.ts';
import { aClusterOfOne } from '../../api/cluster.ts';
import { seedFleet } from '../../api/seed.ts';
import { testDatabases } from '../../store/databases.ts';
import { builtUi, startBrowser, whyNoBrowser } from './fixtures/browser.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };

const ofPostgres = testDatabases().filter(({ name }) => name === 'postgres');

for (const database of ofPostgres)
  describe(
    'the pages of a service that shows two clusters of one PostgreSQL',
    { skip: whyNoBrowser() ?? false },
    () => {
      const stores: Store[] = [];
      let api: ApiUnderTest;
      let browser: Browser;

      before(async () => {
        const settings = await database.fresh();
        for (const name of ['eu', 'us']) {
          const store = openStore(inSchema(settings, name), deps);
          stores.push(store);
          await migrate(store, { version: 'test' });
          const { epoch } = await seedFleet(store);
          await store.fenced(epoch, (tx) => describeSelf(tx, { name, defaultTimeZone: 'UTC' }));
        }
        const [store] = stores as [Store];
        const openSchema = schemaOpener(settings as ServerSettings, deps);
        const around = { clock: systemClock, settings: testSettings, uiFolder: await builtUi() };
        api = await serveApi({ store, cluster: aClusterOfOne(), ...around, openSchema });
        browser = await startBrowser();
      });
      after(async () => {
        await browser.close();
        await api[Symbol.asyncDispose]();
        for (const store of stores) await store.close();
        await database.remove();
      });

      for (const first of ['/', '/cronjobs', '/alerts', '/clusters', '/cronjobs/prod/backup?cluster=us']) {
        test(`a browser that comes to ${first} first shows one cluster, and complains of nothing`, async () => {
          const context = await browser.newContext();
          const page = await context.newPage();
          const complaints: string[] = [];
          page.on('console', (message) => complaints.push(message.text()));
          page.on('pageerror', (error) => complaints.push(error.message));
          await page.goto(`http://127.0.0.1:${api.port}${first}`);
          const shown = first.includes('cluster=us') ? 'us' : 'eu';
          await page.getByRole('button', { name: `Cluster ${shown} (critical, silent)` }).waitFor();
          await page.getByText('OOMKilled').first().waitFor();
          await page.waitForLoadState('load');
          assert.deepEqual(complaints, []);
          await context.close();
        });
      }
    },
  );
