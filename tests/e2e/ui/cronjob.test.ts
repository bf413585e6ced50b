import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the pages of a CronJob and of its runs', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey(
    'shows one part of a CronJob at a time, by key and by address, and asks for that part alone',
    async (page) => {
      await go(page, '/cronjobs/data/nightly-backup');
      await seen(page, 'Last runs');
      const parts = page.getByRole('navigation', { name: 'Parts of nightly-backup' });
      const current = parts.locator('[aria-current="page"]');
      const asked = (): string[] =>
        service().asked.filter((line) => /^GET (cronjobs\/data|monitors|advice\?cronjob|tonight|sla)/.test(line));
      const detail = 'GET cronjobs/data/nightly-backup?recent=90&include=';
      const rail = 'advice%2Ctonight%2Ctargets&zone=UTC';
      assert.deepEqual(asked(), [`${detail}route%2C${rail}`], 'what a part shows is asked for by that part');
      await page.keyboard.press('2');
      await page.waitForURL(/part=runs$/);
      await page.getByRole('table', { name: 'Runs, newest first' }).waitFor();
      assert.match((await current.textContent()) ?? '', /Runs/);
      assert.equal(await page.getByRole('region', { name: 'Verdict' }).count(), 0);
      assert.deepEqual(asked().slice(1), [`${detail}runs%2Cslots%2Croute%2C${rail}`]);
      await page.getByRole('button', { name: '7 d', exact: true }).click();
      await page.waitForURL(/days=7/);
      assert.equal(asked().filter((line) => line.includes('/series')).length, 0);
      await page.keyboard.press('3');
      await page.waitForURL(/part=trends&days=7$/);
      await seen(page, /^Success of each day since/);
      await page.keyboard.press('4');
      await page.getByRole('button', { name: 'Delete history' }).waitFor();
      await page.getByRole('complementary', { name: 'At a glance' }).getByText('Usual duration').waitFor();
      await page.goBack();
      await page.goBack();
      await page.getByRole('table', { name: 'Runs, newest first' }).waitFor();
    },
  );

  journey('shows the numbers of a chart as a table', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup?part=trends');
    await seen(page, /^\d+ runs? took|^Runs (rose|fell)/);
    await page.getByRole('button', { name: 'Show as table' }).first().click();
    await page.getByRole('cell', { name: '2026-11-21 02:00' }).first().waitFor();
  });
});
