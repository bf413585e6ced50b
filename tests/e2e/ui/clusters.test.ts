import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { judge } from './every-page.ts';
import { sidewaysPx, startBrowser, builtUi, openPage, whyNoBrowser } from './fixtures/browser.ts';
import { startFakeService } from './fixtures/api-server.ts';
import { threeClusters } from './fixtures/clusters.ts';
import { useJourneys } from './fixtures/journeys.ts';

const theSwitch = (page: Page) => page.getByRole('button', { name: /^Cluster / });

describe('several clusters, in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, go, seen, service } = useJourneys();

  /** Requests since, without the stream, that name no cluster although they are about one. */
  const unnamed = (from: number): string[] =>
    service()
      .asked.slice(from)
      .filter((line) => !line.includes('cluster=') && !/^GET (clusters|incidents)\b/.test(line));

  /** With three clusters that this browser has seen before. */
  async function goAgain(page: Page, path: string): Promise<void> {
    service().clusters = threeClusters;
    await go(page, path);
    await theSwitch(page).waitFor();
  }

  journey('of which there is one alone are neither shown nor named, and asked for once', async (page) => {
    await go(page, '/');
    await seen(page, 'No success for');
    await page.waitForTimeout(2_500);
    assert.equal(await theSwitch(page).count(), 0);
    assert.equal(await page.getByRole('link', { name: 'Clusters' }).count(), 0);
    assert.ok(!service().asked.some((line) => line.includes('cluster=')));
    assert.equal(service().asked.filter((line) => line === 'GET clusters').length, 1);
    assert.ok(!page.url().includes('cluster='));
  });

  journey('are asked for one at a time: the home cluster first, by name', async (page) => {
    await goAgain(page, '/cronjobs');
    await page.getByRole('button', { name: 'Cluster eu (critical)' }).waitFor();
    await seen(page, '42 CronJobs');
    const from = service().asked.length;
    await page.reload();
    await theSwitch(page).waitFor();
    await seen(page, 'nightly-backup');
    assert.deepEqual(unnamed(from), [], 'from the second visit on each request names the cluster, the stream too');
    assert.ok(
      service()
        .asked.slice(from)
        .some((line) => /^GET events\/stream\?.*cluster=eu$/.test(line)),
    );
  });

  journey('are chosen in the header by the keyboard, and the list stays', async (page) => {
    await goAgain(page, '/cronjobs?sort=name');
    await theSwitch(page).focus();
    await page.keyboard.press('Enter');
    const items = page.getByRole('menuitemradio');
    await items.first().waitFor();
    const words = await items.allInnerTexts();
    assert.match(words[0] ?? '', /^eu \(home\)\s+\d+ critical, .*; seen \d+ s ago$/s);
    assert.match(words[1] ?? '', /^eu-west\s+.*silent since 13:51 UTC$/s);
    assert.match(words[2] ?? '', /us-east cannot be read: its schema is of version 9/);
    assert.equal(await items.first().getAttribute('aria-checked'), 'true');
    const from = service().asked.length;
    for (
      let at = '';
      !at.startsWith('eu-west');
      at = await page.evaluate<string>('document.activeElement.innerText.trim()')
    )
      await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cronjobs\?sort=name&cluster=eu-west$/);
    await page.getByRole('button', { name: /^Cluster eu-west \(.*silent\)/ }).waitFor();
    await page.getByText('nightly-backup').first().waitFor({ state: 'detached' });
    const since = service().asked.slice(from);
    const first = since.findIndex((line) => line.includes('cluster=eu-west'));
    assert.deepEqual(
      since.slice(first).filter((line) => !line.includes('cluster=eu-west') && line !== 'GET clusters'),
      [],
    );
  });

  journey('stay in the address along rows, the rail and the palette, and in a link that is pasted', async (page) => {
    await goAgain(page, '/cronjobs?cluster=eu-west');
    await page.getByRole('link', { name: 'ledger-close' }).first().click();
    await page.waitForURL(/\/cronjobs\/billing\/ledger-close\?cluster=eu-west$/);
    const links = await page.locator('a[href^="/"]').evaluateAll((all) => all.map((link) => String(link)));
    assert.deepEqual(
      links.filter((href) => !href.includes('cluster=') && !href.includes('/swagger')),
      [],
    );
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Monitors' }).click();
    await page.waitForURL(/\/monitors\?cluster=eu-west$/);
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('ledger');
    await page
      .getByRole('option', { name: /ledger-close/ })
      .first()
      .waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cronjobs\/billing\/ledger-close\?cluster=eu-west$/);
    await page.reload();
    await page.getByRole('button', { name: /^Cluster eu-west/ }).waitFor();
    await page.goBack();
    await page.waitForURL(/\/monitors\?cluster=eu-west$/);
  });

  journey('have an object, or show their dashboard in its place', async (page) => {
    await goAgain(page, '/cronjobs/billing/ledger-close');
    await theSwitch(page).click();
    await page.getByRole('menuitemradio', { name: /^eu-west/ }).click();
    await page.waitForURL(/\/cronjobs\/billing\/ledger-close\?cluster=eu-west$/);
    await goAgain(page, '/cronjobs/data/nightly-backup');
    await theSwitch(page).click();
    await page.getByRole('menuitemradio', { name: /^eu-west/ }).click();
    await page.waitForURL(/\/\?cluster=eu-west$/);
  });

  journey('say when their controller was seen last, and why nothing can be done in them', async (page) => {
    await goAgain(page, '/cronjobs/billing/ledger-close?cluster=eu-west');
    const line = 'The controller of eu-west was last seen 13:51 UTC, 12 min ago; what is shown is of then.';
    await page.getByRole('status').getByText(line).waitFor();
    const trigger = page.getByRole('button', { name: /^Trigger/ });
    assert.equal(await trigger.getAttribute('aria-disabled'), 'true');
    await trigger.hover();
    await seen(page, 'No service in eu-west acts for callers here');
    await goAgain(page, '/cronjobs/billing/ledger-close?cluster=eu');
    await page.getByRole('button', { name: /^Trigger/ }).waitFor();
    assert.equal(await page.getByText(line).count(), 0);
  });

  journey('are switched by the palette', async (page) => {
    await goAgain(page, '/alerts');
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('>cluster eu-w');
    await page.getByRole('option', { name: /Cluster eu-west/ }).waitFor();
    await seen(page, 'show the cluster eu-west');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/alerts\?cluster=eu-west$/);
  });

  journey('are listed on one page with the incidents of all, each leading into its own', async (page) => {
    await goAgain(page, '/');
    await page.keyboard.press('g');
    await page.keyboard.press('u');
    await page.waitForURL(/\/clusters$/);
    const rows = page.getByRole('table', { name: 'Clusters' }).getByRole('row');
    await rows.filter({ hasText: 'eu-west' }).getByText('silent since 13:51 UTC').waitFor();
    await rows.filter({ hasText: 'us-east' }).getByText('its schema is of version 9').waitFor();
    const incidents = page.getByRole('table', { name: /^Incidents of all/ }).getByRole('row');
    const states = await incidents.filter({ hasText: /Critical|Warning|Failing/ }).allInnerTexts();
    const ranks = states.map((text) => ['Critical', 'Warning', 'Failing'].findIndex((word) => text.includes(word)));
    assert.deepEqual(ranks, [...ranks].sort(), 'worst first');
    await incidents.filter({ hasText: 'eu-west' }).first().getByRole('link').first().click();
    await page.waitForURL(/\/cronjobs\/[^/]+\/[^/?]+\?cluster=eu-west$/);
  });

  journey(
    'that are unknown by the name in a link are said so, with the way to the one that is there',
    async (page) => {
      service().clusters = threeClusters;
      await go(page, '/alerts?cluster=gone');
      await page.getByText('No cluster that you may read here is named gone.').waitFor();
      await page.getByRole('link', { name: 'Show eu' }).click();
      await page.waitForURL(/\/\?cluster=eu$/);
      await seen(page, 'No success for');
    },
    { expected: /400/ },
  );

  test('are readable by all in light and dark and on a phone', async () => {
    await using fake = await startFakeService({ uiFolder: await builtUi() });
    fake.clusters = threeClusters;
    const browser = await startBrowser();
    try {
      const problems: string[] = [];
      for (const colorScheme of ['light', 'dark'] as const) {
        await using opened = await openPage(browser, { colorScheme });
        const { page } = opened;
        for (const width of [1440, 390, 320]) {
          await page.setViewportSize({ width, height: 900 });
          await page.goto(`${fake.url}/clusters?cluster=eu-west`);
          await page.getByText('The controller of eu-west was last seen').waitFor();
          await page.getByRole('table', { name: /^Incidents of all/ }).waitFor();
          const judged = async (what: string): Promise<void> =>
            void problems.push(...(await judge(page)).map((line) => `${what}, ${colorScheme}, ${width} px: ${line}`));
          await judged('the page');
          const sideways = await sidewaysPx(page);
          if (sideways > 0) problems.push(`${colorScheme}, ${width} px: scrolls sideways by ${sideways} px`);
          await theSwitch(page).click();
          await page.getByRole('menuitemradio').first().waitFor();
          await judged('the menu');
        }
        problems.push(...opened.complaints);
      }
      assert.deepEqual(problems, []);
    } finally {
      await browser.close();
    }
  });
});
