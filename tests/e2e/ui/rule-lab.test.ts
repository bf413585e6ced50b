import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { preview } from './fixtures/answers/preview.ts';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the rule lab', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey('tries a limit by the keyboard alone, and copies the change', async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await go(page, '/monitors/billing/all');
    await page.getByRole('link', { name: 'Rule lab' }).press('Enter');
    await seen(page, /^These rules raise 2 alerts in 30 days/);
    const asked = page.waitForRequest((request) => request.url().endsWith('/monitors/preview'));
    const limit = page.getByRole('slider', { name: 'Takes at most' });
    await limit.press('ArrowRight');
    assert.equal(await limit.getAttribute('aria-valuetext'), '26 min');
    const { spec } = (await asked).postDataJSON() as {
      readonly spec: { readonly sla: { readonly maxDuration: string } };
    };
    assert.equal(spec.sla.maxDuration, '26m');
    await seen(page, 'was 25 min');
    await seen(page, '1 changed, nothing is written');
    await page.getByRole('button', { name: 'kubectl patch' }).press('Enter');
    await page.getByRole('button', { name: 'Copy', exact: true }).press('Enter');
    await seen(page, 'Copied');
    assert.match(
      await page.evaluate<string>('navigator.clipboard.readText()'),
      /^kubectl -n billing patch cronjobmonitor all/,
    );
  });

  journey('says why a field cannot be used, and keeps the last drawing', async (page) => {
    await go(page, '/monitors/billing/all?part=rules');
    await seen(page, /^These rules raise 2 alerts/);
    const field = page.getByLabel('Takes at most, value');
    await field.fill('soon');
    await seen(page, 'Write a duration, such as 25 h or 1 h 30 min');
    assert.equal(await field.getAttribute('aria-invalid'), 'true');
    await seen(page, /^These rules raise 2 alerts/);
    await page.getByRole('switch', { name: 'Takes at most' }).press('Space');
    await seen(page, 'was 25 min');
  });

  journey('says on one line what else it found and what would have been told, and unfolds the rest', async (page) => {
    const message = `9 CronJobs name no time zone (${'prod/cart-cleanup, '.repeat(12)}and more): the clock of the cluster decides`;
    const finding = { level: 'note', code: 'ZoneNotDeclared', path: 'spec.selector', message } as const;
    const items = preview.alerts.items.map((alert) => ({ ...alert, message: `No run has succeeded. ${message}` }));
    service().answer('monitors/preview', {
      value: { ...preview, findings: [finding], alerts: { ...preview.alerts, items } },
    });
    await go(page, '/monitors/billing/all?part=rules');
    const found = page.getByRole('region', { name: 'Also found' }).getByRole('listitem');
    const told = page.getByRole('row').filter({ hasText: 'No run has succeeded.' }).first();
    for (const [one, mostPx] of [
      [found, 24],
      [told, 48],
    ] as const) {
      const heightPx = async (): Promise<number> => (await one.boundingBox())?.height ?? Number.NaN;
      await one.getByRole('button', { name: 'Show all of it' }).waitFor();
      assert.ok((await heightPx()) <= mostPx, `folded: ${await heightPx()} px`);
      await one.getByRole('button', { name: 'Show all of it' }).press('Enter');
      await one.getByRole('button', { name: 'Show one line' }).waitFor();
      assert.ok((await heightPx()) > mostPx, `unfolded: ${await heightPx()} px`);
    }
    const [title, tiles] = await Promise.all([
      page.getByRole('heading', { name: /^These rules/ }).boundingBox(),
      page.locator('dl').boundingBox(),
    ]);
    assert.ok(title && tiles && tiles.x >= title.x + title.width && tiles.y < title.y + title.height, 'side by side');
  });
});
