import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('groups of Jobs in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey('lists groups of Jobs by a switch, and shows one without what follows from a schedule', async (page) => {
    const [member] = service().fleet;
    assert.ok(member);
    Object.assign(member.item, { kind: 'Jobs', namespace: 'prod', name: '~migrate', schedule: '', nextRun: null });
    await go(page, '/');
    await page
      .getByRole('link', { name: /~migrate/ })
      .first()
      .waitFor();
    await go(page, '/cronjobs');
    await page.getByRole('row').nth(2).waitFor();
    assert.equal(await page.getByText('~migrate').count(), 0);
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('switch', { name: 'Jobs' }).click();
    await page.waitForURL(/kind=Jobs/);
    await seen(page, '1 group of Jobs');
    assert.equal(await page.getByRole('columnheader', { name: /Schedule|Next run/ }).count(), 0);
    await go(page, '/cronjobs/prod/~migrate');
    await seen(page, 'without a CronJob, and so without a schedule');
    assert.equal(await page.getByRole('button', { name: /^(Trigger|Suspend|Resume)$/ }).count(), 0);
    assert.equal(await page.getByText('Concurrency').count(), 0);
    await page.getByRole('button', { name: 'More for prod/~migrate' }).click();
    await page.getByRole('menuitem', { name: 'Print' }).waitFor();
    assert.equal(await page.getByRole('menuitem', { name: /kubectl/ }).count(), 0);
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'Jobs', exact: true }).click();
    await page.waitForURL(/cronjobs\?kind=Jobs$/);
  });
});
