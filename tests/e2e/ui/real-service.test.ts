import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { KubeObject } from '@cronjob-monitor/simcluster';
import type { Browser, Page } from 'playwright-core';
import type { AlertList, ErrorBody, Stats } from '@cronjob-monitor/shared/contract';
import { namespace, putMonitor, startBench, type Bench } from '../../faults/harness/bench.ts';
import { failedStatus, putCronJob, putJob, slotNumber } from '../../faults/harness/objects.ts';
import type { MonitorProcess } from '../../servers/index.ts';
import { builtUi, openPage, startBrowser, whyNoBrowser } from './fixtures/browser.ts';

const nobody = '00000000-0000-7000-8000-000000000000';

/** A question about each part of the API that the pages live from. */
const questions: Readonly<Record<string, readonly [method: 'GET' | 'POST', path: string]>> = {
  alerts: ['GET', 'alerts'],
  alert: ['GET', `alerts/${nobody}`],
  silences: ['GET', 'silences'],
  channels: ['GET', 'channels'],
  wall: ['GET', 'wall'],
  sla: ['GET', 'sla'],
  series: ['GET', 'series'],
  slots: ['GET', `cronjobs/${namespace}/backup/slots`],
  stream: ['GET', 'events/stream'],
  trigger: ['POST', `cronjobs/${namespace}/none/trigger`],
  suspend: ['POST', `cronjobs/${namespace}/none/suspend`],
  export: ['GET', 'cronjobs?format=csv'],
  patterns: ['POST', 'patterns/test'],
  preview: ['POST', 'monitors/preview'],
  coverage: ['GET', 'coverage?limit=1'],
  advice: ['GET', 'advice?limit=1'],
  clusters: ['GET', 'clusters'],
};

/** The whole way: a simulated cluster, the standalone service on it, its user interface in a browser. */
describe('the user interface of the running service', { skip: whyNoBrowser() ?? false }, () => {
  let bench: Bench;
  let service: MonitorProcess;
  let browser: Browser;
  let backup: KubeObject;

  before(async () => {
    await builtUi();
    bench = await startBench();
    bench.sim.objects.put({
      apiVersion: 'cronjob-monitor.io/v1alpha1',
      kind: 'AlertChannel',
      metadata: { name: 'hooks' },
      spec: { type: 'webhook', webhook: { urlSecretRef: { name: 'hooks', namespace, key: 'url' }, method: 'POST' } },
    });
    putMonitor(bench.sim, 'everything', { alerting: { enabled: true, channelRefs: [{ name: 'hooks' }] } });
    service = await bench.prepare({ config: { 'storage.log-storage-enabled': true } });
    await service.startReady();
    await service.untilLeading();
    backup = putCronJob(bench.sim, 'backup');
    await service.until('the CronJob is known', async () => {
      const { totalCronJobs } = await service.ask<Stats>('/api/v1/stats');
      return totalCronJobs === 1;
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await bench.close();
  });

  const go = (page: Page, path: string): Promise<unknown> => page.goto(service.api + path);
  const seen = (page: Page, text: string | RegExp): Promise<void> => page.getByText(text).first().waitFor();

  test('lives from parts of the API that the service answers', async () => {
    const wrong: string[] = [];
    for (const [part, [method, path]] of Object.entries(questions)) {
      const stop = new AbortController();
      const answer = await fetch(`${service.api}/api/v1/${path}`, {
        method,
        signal: stop.signal,
        ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
      });
      const isThere = answer.status !== 404 || ((await answer.json()) as ErrorBody).error.details?.kind !== 'Route';
      stop.abort();
      if (!isThere) wrong.push(`${part}: ${answer.status}`);
    }
    assert.deepEqual(wrong, []);
  });

  test('shows a failed run as it comes, leads to why no channel was told, and takes note', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, '/');
    await page.getByText('Incidents', { exact: true }).waitFor();
    putJob(bench.sim, backup, { slotAt: slotNumber(1), status: failedStatus() });
    await page.getByRole('link', { name: 'backup' }).first().waitFor();
    await seen(page, '1 warning');
    await page
      .getByRole('link', { name: /^Alerts/ })
      .first()
      .click();
    await page.getByRole('button', { name: '1 alert of shop/backup' }).click();
    await page.locator('main [data-line-link]').first().click();
    await page.waitForURL(/\/alerts\/.{36}$/);
    await seen(page, 'Resolves when');
    await seen(page, 'Found');
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('on it');
    await page.getByRole('textbox', { name: 'Your name' }).fill('ana');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await seen(page, 'Acknowledged by ana: on it');
    assert.deepEqual(opened.complaints, []);
  });

  test('silences what is open, holds it, and ends the silence early', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, `/silences?form=new&ns=${namespace}&cronjob=backup`);
    await seen(page, /would hold 1 alert now/);
    await page.getByRole('textbox', { name: 'Comment' }).fill('storage move');
    await page.getByRole('button', { name: /^Silence/ }).click();
    await page.waitForURL(/\/silences$/);
    const row = page.getByRole('row', { name: /Alerts of shop\/backup/ });
    await row.getByText('storage move').waitFor();
    await row.getByRole('button', { name: 'End now' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End now' }).click();
    await row.waitFor({ state: 'detached' });
    assert.deepEqual(opened.complaints, []);
  });

  test('says of a channel why it is not ready, and what its test came to', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, '/channels/hooks');
    await seen(page, 'Not ready');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await page.getByText(/^hooks: (Failed|Refused)/).waitFor({ timeout: 20_000 });
    assert.deepEqual(opened.complaints, []);
  });

  test('tries a pattern, lists targets and saves a file of every list', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, '/settings?part=patterns');
    await page.getByRole('textbox', { name: 'Log, expression' }).fill('out of (memory|disk)');
    await page.getByRole('textbox', { name: 'What it suggests' }).fill('Look at {{ .Namespace }}');
    await page.getByRole('textbox', { name: 'Its log' }).fill('fatal: out of disk');
    await page.getByRole('button', { name: 'Try it' }).click();
    await seen(page, 'It matches');
    await go(page, '/sla');
    await seen(page, 'No monitor sets a target');
    await go(page, '/alerts');
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: 'All rows as CSV' }).click(),
    ]);
    assert.match(file.suggestedFilename(), /^alerts-\d{4}-\d\d-\d\d\.csv$/);
    const { items } = await service.ask<AlertList>('/api/v1/alerts?state=active,pending,suppressed');
    const [head, ...rows] = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    assert.match(head ?? '', /^id,type,subject,severity,state,/);
    assert.deepEqual(
      rows.map((row) => row.split(',')[0]),
      items.map(({ id }) => id),
    );
    assert.equal(rows.length, 1);
    assert.deepEqual(opened.complaints, []);
  });

  test('triggers a run and shows how it ends', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, `/cronjobs/${namespace}/backup`);
    await page.getByRole('button', { name: 'Trigger', exact: true }).click();
    await seen(page, /^Started backup-manual-/);
    await page.getByRole('cell', { name: 'Manual' }).first().waitFor({ timeout: 20_000 });
    assert.deepEqual(opened.complaints, []);
  });

  test('keeps what it had while the service is away, and comes back by itself', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await go(page, '/cronjobs');
    await page.locator('main [data-row-link]').first().waitFor();
    await service.end();
    await page
      .getByText(/Not connected/)
      .first()
      .waitFor({ timeout: 60_000 });
    assert.ok((await page.locator('main [data-row-link]').count()) > 0);
    await service.startReady();
    await page.getByText('Live', { exact: true }).first().waitFor({ timeout: 60_000 });
  });
});
