import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { startFakeService } from './fixtures/api-server.ts';
import { builtUi, openPage, startBrowser, whyNoBrowser } from './fixtures/browser.ts';
import { walkHands } from './hands.ts';

describe('what is done with rows, in Chromium', { skip: whyNoBrowser() ?? false }, () => {
  walkHands('chromium');

  test('a finger that rests on a row opens its menu, and one that moves scrolls', async () => {
    await using service = await startFakeService({ uiFolder: await builtUi() });
    const browser = await startBrowser();
    try {
      await using opened = await openPage(browser, {
        viewport: { width: 390, height: 844 },
        hasTouch: true,
        isMobile: true,
      });
      const { page } = opened;
      const finger = await page.context().newCDPSession(page);
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', ...touchPoints: { x: number; y: number }[]) =>
        finger.send('Input.dispatchTouchEvent', { type, touchPoints });
      for (const path of ['/', '/cronjobs', '/alerts']) {
        await page.goto(service.url + path);
        const row = page.locator('main [data-row]').first();
        await row.scrollIntoViewIfNeeded();
        const box = await row.boundingBox();
        assert.ok(box);
        const at = { x: Math.round(box.x) + 120, y: Math.round(box.y) + 30 };
        await touch('touchStart', at);
        await touch('touchMove', { x: at.x, y: at.y - 40 });
        await page.waitForTimeout(700);
        await touch('touchEnd');
        assert.equal(await page.getByRole('menu').count(), 0, 'a finger that scrolls');
        await page.evaluate('scrollTo(0, 0)');
        await row.scrollIntoViewIfNeeded();
        const again = await row.boundingBox();
        assert.ok(again);
        await touch('touchStart', { x: Math.round(again.x) + 120, y: Math.round(again.y) + 30 });
        const menu = page.getByRole('menu');
        await menu.waitFor();
        await touch('touchEnd');
        assert.equal(new URL(page.url()).pathname, path, 'the end of the press opens nothing');
        const panel = await menu.boundingBox();
        assert.ok(panel && panel.y >= 0 && panel.y + panel.height <= 844, 'all of it can be reached');
        for (const name of ['Open', 'Trigger', 'Acknowledge', 'Silence for 1 h', 'Copy name'])
          await menu.getByRole('menuitem', { name, exact: true }).waitFor();
        await menu.getByRole('menuitem', { name: 'Open', exact: true }).tap();
        await page.waitForURL(/\/cronjobs\/.+/);
      }
      await page.goto(`${service.url}/cronjobs`);
      const rows = page.locator('main [data-row]');
      const box = await rows.first().boundingBox();
      assert.ok(box);
      await touch('touchStart', { x: Math.round(box.x) + 120, y: Math.round(box.y) + 30 });
      const choose = page.getByRole('menuitem', { name: 'Choose with others' });
      await choose.waitFor();
      await touch('touchEnd');
      await choose.tap();
      await page.getByText('1 row chosen').waitFor();
      await rows.nth(1).tap({ position: { x: 120, y: 30 } });
      await page.getByText('2 rows chosen').waitFor();
      assert.equal(new URL(page.url()).pathname, '/cronjobs', 'while rows are chosen a tap chooses');
      assert.deepEqual(opened.complaints, []);
    } finally {
      await browser.close();
    }
  });
});
