import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Page } from 'playwright-core';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

const cause = 'db.prod:5432 refuses connections';

describe('CronJobs that fail by one cause', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();
  const group = (page: Page) => page.locator('main li[data-row]').filter({ hasText: cause });
  const bulk = (): readonly string[] => service().asked.filter((line) => line === 'POST bulk');

  /** Names of those that fail by the cause, in the order of the incidents. */
  function failTogether(): string[] {
    const members = service().fleet.filter(
      ({ item }) => item.namespace === 'billing' && ['critical', 'warning'].includes(item.verdict.state),
    );
    assert.ok(members.length > 1);
    for (const member of members) member.sharedCause = cause;
    return members.map(({ item }) => item.name);
  }

  for (const path of ['/', '/alerts', '/monitors/billing/all'])
    journey(`are one row of ${path}, which unfolds to a row for each`, async (page) => {
      const names = failTogether();
      await go(page, path);
      const row = group(page);
      await row.getByRole('button', { name: `${names.length} CronJobs` }).waitFor();
      assert.equal(await row.count(), 1);
      for (const name of names) assert.match((await row.textContent()) ?? '', new RegExp(name));
      assert.equal(await page.locator(`main li[data-row="billing/${names[0]}"]:has(.says)`).count(), 0, 'folded');
      await row.getByRole('button', { name: `${names.length} CronJobs` }).press('Enter');
      for (const name of names) await page.locator(`main li[data-row="billing/${name}"]:has(.says)`).waitFor();
    });

  journey('are each counted where they are listed', async (page) => {
    failTogether();
    await go(page, '/alerts');
    await group(page).waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    const listed = [...text.matchAll(/(?:Open|Failing|Held back)\s*(\d+) CronJobs?/g)];
    const sum = listed.reduce((all, [, count]) => all + Number(count), 0);
    assert.equal(sum, Number(/Now\s*(\d+) CronJobs/.exec(text)?.[1]), text.slice(0, 500));
  });

  journey('are acknowledged by one key and one request, and taken back by one Undo', async (page) => {
    const names = failTogether();
    await go(page, '/alerts');
    await group(page).locator('[data-row-link]').focus();
    await page.keyboard.press('a');
    await seen(page, `Acknowledged ${names.length} rows`);
    assert.equal(bulk().length, 1);
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, `Taken back for ${names.length} rows`);
  });

  journey('are chosen together by one key, and silenced from their row', async (page) => {
    const names = failTogether();
    await go(page, '/');
    const link = group(page).locator('[data-row-link]');
    await link.focus();
    await page.keyboard.press('x');
    await seen(page, `${names.length} rows chosen`);
    await group(page).getByText(', chosen').waitFor({ state: 'attached' });
    await page.keyboard.press('x');
    await page.getByText('rows chosen').waitFor({ state: 'detached' });
    await page.keyboard.press('s');
    await page.getByText(`Silence ${names.length} rows`).waitFor();
    await page.getByRole('button', { name: 'For 4 h' }).click();
    await seen(page, `Silenced ${names.length} rows`);
    assert.equal(bulk().length, 1);
  });
});
