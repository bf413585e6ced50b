import assert from 'node:assert/strict';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { systemClock } from '@cronjob-monitor/shared/process';
import { migrate, openStore } from '@cronjob-monitor/shared/store';
import { aTemporaryFolder, RecordingLogger, testsNeeding } from '@cronjob-monitor/shared/testing';
import { openPage, startBrowser, whyNoBrowser } from '../e2e/ui/fixtures/browser.ts';
import { serveApi } from './api-under-test.ts';
import { aClusterOfOne } from './cluster.ts';

const needing = testsNeeding('browser', whyNoBrowser());

needing.test(
  'the page of the contract shows every operation and tries one, and the browser refuses nothing',
  async (context) => {
    const folder = aTemporaryFolder(context, {
      'ui/index.html': '<!doctype html>',
      'ui/favicon.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    });
    const deps = { clock: systemClock, log: new RecordingLogger() };
    const store = openStore({ type: 'sqlite', path: `${folder}/monitor.db` }, deps);
    context.after(() => store.close());
    await migrate(store, { version: 'test' });
    await using api = await serveApi({
      store,
      cluster: aClusterOfOne(),
      clock: systemClock,
      settings: testSettings,
      uiFolder: `${folder}/ui`,
    });
    const browser = await startBrowser();
    context.after(() => browser.close());
    await using opened = await openPage(browser);
    const { page, complaints } = opened;
    await page.goto(`http://127.0.0.1:${api.port}/swagger/`);
    const whoami = page.locator('#operations-Overview-getWhoami');
    await whoami.waitFor();
    assert.ok((await page.locator('.opblock').count()) > 40);
    await whoami.locator('.opblock-summary').click();
    await whoami.getByRole('button', { name: 'Try it out' }).click();
    await whoami.getByRole('button', { name: 'Execute' }).click();
    await whoami.locator('.live-responses-table').getByText('"authenticated"').first().waitFor();
    assert.deepEqual(complaints, []);
  },
);
