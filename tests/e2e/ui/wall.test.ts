import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the wall, in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, go, seen, service } = useJourneys();

  journey(
    'tints the time in which messages are held back, says so, and has a line there in forced colours',
    async (page) => {
      await go(page, '/wall');
      const lane = page.locator('[data-line="1"] .lane');
      const held = await lane.locator('rect.held').boundingBox();
      assert.ok(held);
      await page.mouse.move(held.x + held.width - 4, held.y + held.height / 2);
      await page
        .locator('.readout')
        .getByText(/Maintenance until 03:00$/)
        .waitFor();
      assert.match((await page.getByRole('gridcell').textContent()) ?? '', /Maintenance until 03:00$/);
      await page.getByRole('listitem').filter({ hasText: 'Silenced, maintenance' }).locator('rect.held').waitFor();
      await page.emulateMedia({ forcedColors: 'active' });
      const [foot, text] = await page.evaluate<readonly [string, string]>(
        "[getComputedStyle(document.querySelector('[data-line] rect.heldFoot')).fill, getComputedStyle(document.querySelector('h1')).color]",
      );
      assert.equal(foot, text);
    },
  );

  journey('folds a group of the wall into one row, and keeps what is broken', async (page) => {
    await go(page, '/wall');
    await page.getByRole('rowheader', { name: /^Fold data, / }).click();
    await page.getByRole('rowheader', { name: /^Unfold data, / }).waitFor();
    assert.equal(await page.getByRole('rowheader', { name: /^data\/nightly-backup/ }).count(), 0);
    await page.getByRole('button', { name: 'Broken' }).click();
    await page.waitForURL(/keep=broken/);
  });

  journey(
    'is one touch away on a phone',
    async (page) => {
      await go(page, '/');
      await page.getByRole('navigation', { name: 'Main pages' }).getByRole('link', { name: 'Wall' }).click();
      await page.getByRole('grid').waitFor();
      assert.equal(await page.locator('h1').textContent(), 'Wall');
      await seen(page, 'Tap a cell to see what is in it, and once more to open it.');
      assert.equal(await page.getByText('Point at a cell').count(), 0);
    },
    { width: 390 },
  );

  journey(
    'tells long names of one family apart on a phone, by their ends',
    async (page) => {
      const [first, second] = service().fleet;
      const ends = ['first', 'second'];
      for (const [at, member] of [first, second].entries())
        Object.assign(member?.item ?? {}, { name: `export-of-all-ledger-entries-to-the-warehouse-${ends[at]}` });
      await go(page, '/wall');
      for (const end of ends) {
        const name = page.getByRole('rowheader', { name: new RegExp(`warehouse-${end}`) });
        await name.getByText(new RegExp(`^export-.*….*-${end}$`)).waitFor();
      }
      const isCut = 'one.scrollHeight > one.clientHeight + 1 && getComputedStyle(one).overflow === "hidden"';
      const names = "[...document.querySelectorAll('.row [role=rowheader] *')]";
      assert.equal(await page.evaluate(`${names}.filter((one) => ${isCut}).length`), 0);
    },
    { width: 390 },
  );

  journey('opens by g and w', async (page) => {
    await go(page, '/');
    await page.locator('h1').waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('w');
    await page.getByRole('grid').waitFor();
  });

  journey(
    'stands alone on a television, without a pointer, and has a red frame while nothing answers',
    async (page) => {
      await page.setViewportSize({ width: 1920, height: 1080 });
      await go(page, '/wall?tv=1');
      await page.getByRole('grid').waitFor();
      assert.match((await page.locator('h1').textContent()) ?? '', /3 critical/);
      assert.equal(await page.getByRole('navigation').count(), 0);
      assert.equal(await page.evaluate("getComputedStyle(document.querySelector('.screen .lane')).cursor"), 'none');
      assert.ok(await page.evaluate('document.documentElement.scrollHeight <= innerHeight'));
      assert.equal(await page.locator('.screen.old').count(), 0);
      service().isUp = false;
      service().say('resync', { reason: 'tooManyChanges' });
      await page.locator('.screen.old').waitFor();
      await page.getByRole('heading', { name: /^Not connected: as of/ }).waitFor();
    },
    { expected: /ERR_|Failed to load/ },
  );
});
