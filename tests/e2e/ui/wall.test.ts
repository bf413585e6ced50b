import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the wall, in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, go, service } = useJourneys();

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

  journey('draws a part of the wall out by the pointer or by the keys, and leads back by Esc', async (page) => {
    await go(page, '/wall');
    const grid = page.getByRole('grid');
    await grid.waitFor();
    const rows = page.locator('.row[data-line]');
    const before = await rows.count();
    const cell = async (line: number, share: number): Promise<{ x: number; y: number }> => {
      const box = await page.locator(`[data-line="${line}"] .lane`).boundingBox();
      assert.ok(box);
      return { x: box.x + box.width * share, y: box.y + box.height / 2 };
    };
    const [begin, end] = [await cell(1, 0.2), await cell(3, 0.3)];
    await page.mouse.move(begin.x, begin.y);
    await page.mouse.down();
    await page.mouse.move((begin.x + end.x) / 2, end.y);
    await page.mouse.move(end.x, end.y);
    await page.locator('.selection').waitFor();
    await page.mouse.up();
    await page.waitForURL(/from=2026.*until=2026.*step=\d+m.*rows=/);
    const shows = async (lines: number): Promise<void> => {
      while ((await rows.count()) !== lines) await page.waitForTimeout(50);
    };
    await shows(4);
    assert.equal(service().asked.filter((line) => /^GET wall\?.*from=2026/.test(line)).length, 1);
    await page.keyboard.press('Escape');
    await page.waitForURL(/\/wall$/);
    await shows(before);
    await grid.focus();

    for (const key of ['ArrowDown', 'ArrowRight', 'Shift+ArrowRight', 'Shift+ArrowRight', 'Enter'])
      await page.keyboard.press(key);
    await page.waitForURL(/from=2026/);
    assert.ok(!page.url().includes('rows='), 'one line says when alone');
    await page.getByRole('button', { name: 'All of it' }).click();
    await page.waitForURL(/\/wall$/);
  });

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
