import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the wall, in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, go } = useJourneys();

  journey(
    'tells on the wall what is under the pointer and the arrow keys, and opens the run of a cell',
    async (page) => {
      await go(page, '/timeline');
      await page.waitForURL(/\/wall$/);
      const grid = page.getByRole('grid');
      const readout = page.locator('.readout');
      await grid.focus();
      for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
      await readout.getByText('data/nightly-backup').waitFor();
      const said = await page.getByRole('gridcell').textContent();
      assert.match(said ?? '', /^2026-11-\d\d \d\d:\d0, 30 min: /);
      const lane = page.locator('[data-line="1"] .lane');
      const drawn = await lane.locator('path.cross').getAttribute('d');
      const [, x = '0'] = /^M([\d.]+)/.exec(drawn ?? '') ?? [];
      const box = await lane.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + Number(x) + 2, box.y + box.height / 2);
      await readout.getByText(/^1 run failed: exit code 137, OOMKilled after/).waitFor();
      await page.mouse.down();
      await page.mouse.up();
      await page.waitForURL(/\/cronjobs\/data\/nightly-backup\/runs\//);
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
});
