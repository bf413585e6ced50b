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
});
