import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { IncidentList } from '@cronjob-monitor/shared/contract';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the first page', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey('shows what is wrong in the order of the incidents, all of it from one answer', async (page) => {
    await go(page, '/');
    await seen(page, 'No success for');
    const listed = await page
      .locator('main li[data-row]:has(.says)')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')));
    const answer = await page.request.get(`${service().url}/api/v1/incidents?limit=20`);
    const { items } = (await answer.json()) as IncidentList;
    const expected = items.map(({ cronjob: { namespace, name } }) => `${namespace}/${name}`);
    const open = listed.length;
    assert.ok(open >= 4, listed.join());
    assert.deepEqual(
      listed,
      expected.filter((key) => listed.includes(key)),
    );
    assert.deepEqual(listed.slice(0, 4), expected.slice(0, 4));
  });

  journey(
    'asks for who it is and for the overview, follows the changes, and then for the clusters: nothing else',
    async (page) => {
      await go(page, '/');
      await seen(page, 'No success for');
      while (!service().asked.includes('GET clusters')) await page.waitForTimeout(50);
      await page.waitForTimeout(1_500);
      assert.deepEqual(
        service()
          .asked.map((line) => line.replace(/^(GET events\/stream)\?.*/, '$1'))
          .toSorted(),
        ['GET clusters', 'GET events/stream', 'GET overview?zone=UTC', 'GET whoami'],
      );
      const counts = page.getByRole('navigation', { name: 'Pages' }).first();
      await counts.getByText('not ready').waitFor();
      await counts.getByText('findings').waitFor();
    },
  );

  journey('says of an incident that is folded what the log says, where nothing else explains it', async (page) => {
    const sync = service().fleet.find(({ item }) => item.name === 'price-sync');
    assert.ok(sync?.item.verdict);
    const text = 'FATAL: password authentication failed for user "prices"';
    const logLine = { text, number: 2, jobName: 'price-sync-1', pod: 'price-sync-1-x', href: '/' };
    Object.assign(sync.item, { verdict: { ...sync.item.verdict, state: 'failing', cause: null, logLine } });
    await go(page, '/');
    const row = page.locator('li[data-row="prod/price-sync"]:not(.open)');
    await row.getByText(text).waitFor();
  });

  journey(
    'calls nothing running that has not started',
    async (page) => {
      await go(page, '/');
      const row = page.locator('li[data-row="prod/search-reindex"]');
      await row.getByText('Not started for').waitFor();
      assert.equal(await row.getByText('Running').count(), 0);
      await go(page, '/cronjobs/prod/search-reindex');
      await seen(page, '1 active run');
      assert.equal(await page.locator('main .badge', { hasText: 'Running' }).count(), 0);
      await page.locator('main [data-row-link]', { hasText: 'search-reindex-' }).first().click();
      await page.locator('main .badge', { hasText: 'Not started' }).first().waitFor();
      await seen(page, /^Not started for .+: ImagePullBackOff$/);
    },
    // The record of a run that goes on, and its log.
    { expected: /404/ },
  );

  journey(
    'has the filters of a list in one line on a small desktop',
    async (page) => {
      await go(page, '/cronjobs');
      const topOf = async (name: string): Promise<number> => {
        const box = await page.getByRole('button', { name }).first().boundingBox();
        assert.ok(box);
        return Math.round(box.y + box.height / 2);
      };
      await seen(page, 'nightly-backup');
      assert.ok(Math.abs((await topOf('More filters')) - (await topOf('Healthy'))) <= 2);
    },
    { width: 1280 },
  );
});
