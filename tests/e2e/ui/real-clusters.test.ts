import assert from 'node:assert/strict';
import { createSecretKey } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import type { ApiSettings } from '@cronjob-monitor/apiserver';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import type { Cluster } from '@cronjob-monitor/shared/kube';
import { systemClock } from '@cronjob-monitor/shared/process';
import { inSchema, schemaOpener, type ServerSettings, type Store } from '@cronjob-monitor/shared/store';
import { RecordingLogger } from '@cronjob-monitor/shared/testing';
import type { Browser, Page } from 'playwright-core';
import { serveApi, type ApiUnderTest } from '../../api/api-under-test.ts';
import { aClusterOfOne } from '../../api/cluster.ts';
import { seedCluster } from '../../api/seed.ts';
import { testDatabases } from '../../store/databases.ts';
import { builtUi, startBrowser, whyNoBrowser } from './fixtures/browser.ts';

const deps = { clock: systemClock, log: new RecordingLogger() };

const key = createSecretKey(Buffer.from('a key of more than thirty-two bytes'));

/** A cluster that keeps what was done in it. */
function recording(done: string[]): Cluster {
  const own: Partial<Cluster> = {
    createJob: async (_, job) => {
      done.push('trigger');
      return job as Awaited<ReturnType<Cluster['createJob']>>;
    },
    setSuspended: async (_, suspended) => {
      done.push(suspended ? 'suspend' : 'resume');
      return {};
    },
  };
  const one = aClusterOfOne();
  return new Proxy(one, { get: (of, member) => own[member as keyof Cluster] ?? of[member as keyof Cluster] });
}

const ofPostgres = testDatabases().filter(({ name }) => name === 'postgres');

for (const database of ofPostgres)
  describe(
    'the pages of a service that shows two clusters of one PostgreSQL',
    { skip: whyNoBrowser() ?? false },
    () => {
      const stores: Store[] = [];
      const alerts: string[] = [];
      const doneInEu: string[] = [];
      const doneInUs: string[] = [];
      let api: ApiUnderTest;
      let browser: Browser;

      before(async () => {
        const settings = await database.fresh();
        for (const name of ['eu', 'us']) {
          const { store, alert } = await seedCluster(inSchema(settings, name), name);
          stores.push(store);
          alerts.push(alert);
        }
        const [store] = stores as [Store];
        const openSchema = schemaOpener(settings as ServerSettings, deps);
        const settingsOfEu = { ...testSettings, clusterName: 'eu', actionsKey: key, costlyRequestsPerMinute: 10_000 };
        const around = { clock: systemClock, settings: settingsOfEu, uiFolder: await builtUi() };
        api = await serveApi({ store, cluster: recording(doneInEu), ...around, openSchema });
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

      /** The service of us. It has said that it is there. */
      const serveUs = async (changes: Partial<ApiSettings> = {}): Promise<ApiUnderTest> => {
        const [, store] = stores as [Store, Store];
        const settings = { ...testSettings, clusterName: 'us', actionsKey: key, ...changes };
        const us = await serveApi({ store, cluster: recording(doneInUs), clock: systemClock, settings });
        for (let tries = 0; (await store.sql('actions').where({ kind: 'agent' })).length === 0; tries++) {
          assert.ok(tries < 100, 'it never says that it is there');
          await systemClock.sleep(50);
        }
        return us;
      };
      const onPage = async (what: (page: Page) => Promise<void>, path = '/cronjobs/prod/backup'): Promise<void> => {
        doneInUs.length = 0;
        const context = await browser.newContext();
        const page = await context.newPage();
        await page.goto(`http://127.0.0.1:${api.port}${path}?cluster=us`);
        await page.getByText('OOMKilled').first().waitFor();
        await what(page);
        await context.close();
        await (stores[1] as Store).sql('actions').delete();
      };
      const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
      const says = (page: Page, text: RegExp): Promise<void> => page.getByRole('status').getByText(text).waitFor();

      test('the buttons of a CronJob of the other cluster act there and only there, and the page says what happened', async () => {
        await using _ = await serveUs();
        await onPage(async (page) => {
          await button(page, 'Trigger').click();
          await says(page, /^Started backup-manual-[0-9a-f]{12}$/);
          assert.deepEqual([doneInUs, doneInEu], [['trigger'], []]);
          await button(page, 'Suspend').click();
          const dialog = page.getByRole('dialog');
          await dialog
            .or(page.getByText(/^Suspended prod\/backup$/))
            .first()
            .waitFor();
          if (await dialog.isVisible()) await dialog.getByRole('button', { name: 'Suspend' }).click();
          await says(page, /^Suspended prod\/backup$/);
          await button(page, 'Undo').click();
          // This cluster keeps no state: what it is asked for is told as it answers.
          await says(page, /^(Resumed prod\/backup|prod\/backup was so already)$/);
          assert.deepEqual(doneInEu, []);
          assert.equal(doneInUs[1], 'suspend');
        });
      });

      test('an alert of the other cluster is acknowledged and silenced from its page, there and only there', async () => {
        const kept = (what: string): Promise<number[]> =>
          Promise.all(stores.map(async (store) => (await store.sql(what).select()).length));
        await using _ = await serveUs();
        const [before, silences] = [await kept('acknowledgements'), await kept('silences')];
        await onPage(async (page) => {
          await button(page, 'Acknowledge').click();
          await says(page, /^Acknowledged/);
          await button(page, 'Take back').waitFor();
          assert.deepEqual(await kept('acknowledgements'), [before[0], Number(before[1]) + 1]);
          await page.getByRole('button', { name: 'Silence', exact: true }).click();
          await page.getByText(/^Holds \d+ alerts? now/).waitFor();
          await page.getByRole('textbox', { name: 'Comment' }).fill('storage move');
          await page.getByRole('button', { name: 'For 1 h' }).click();
          await says(page, /^Silenced prod\/backup/);
          assert.deepEqual(await kept('silences'), [silences[0], Number(silences[1]) + 1]);
        }, `/alerts/${alerts[1]}`);
      });

      test('where the service there refuses, or does not know who asks, the page says so and nothing is done', async () => {
        for (const [changes, why] of [
          [{ readOnly: true }, /^Could not trigger prod\/backup: .*read.?only/i],
          [
            { authMode: 'token' },
            /^Could not trigger prod\/backup: us knows no rights of callers of eu without a name/,
          ],
        ] as const) {
          await using _ = await serveUs(changes);
          await onPage(async (page) => {
            await button(page, 'Trigger').click();
            await says(page, why);
          });
        }
        assert.deepEqual([doneInUs, doneInEu], [[], []]);
      });

      test('where no service there acts for others the buttons say so, and a click does nothing', async () => {
        await onPage(async (page) => {
          for (const name of ['Trigger', 'Suspend']) {
            const off = page.getByRole('button', { name: `${name} (No service in us acts for callers here)` });
            await off.and(page.locator('[aria-disabled="true"]')).click({ force: true });
          }
        });
        assert.deepEqual([doneInUs, doneInEu], [[], []]);
      });
    },
  );
