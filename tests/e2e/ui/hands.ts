import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { sidewaysPx, until } from './fixtures/browser.ts';
import { pressed, useJourneys } from './fixtures/journeys.ts';

/** What is done with rows, by as few clicks and keys as ui-second.md 13 allows, in one browser. */
export function walkHands(engine: 'chromium' | 'firefox'): void {
  const { journey, service, go, seen } = useJourneys(engine);
  const chosen = (page: Page): Promise<number> => page.locator('main .chosen').count();
  const bulk = (): readonly string[] => service().asked.filter((line) => line === 'POST bulk');

  journey('acknowledges five rows by six keys and one request, and takes all back by one Undo', async (page) => {
    await go(page, '/cronjobs');
    await seen(page, 'No success for');
    for (let row = 1; row <= 5; row++) {
      await page.keyboard.press('Shift+J');
      await page.getByText(`${row} row${row === 1 ? '' : 's'} chosen`).waitFor();
    }
    assert.equal(await chosen(page), 5);
    await page.keyboard.press('a');
    await seen(page, /^Acknowledged \d rows/);
    assert.deepEqual([await pressed(page), bulk().length], [{ clicks: 0, keys: 6 }, 1]);
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, /^Taken back for \d rows/);
    assert.equal(bulk().length, 2);
  });

  journey('acknowledges an alert by one key, with its chip, and takes it back', async (page) => {
    await go(page, '/alerts');
    await seen(page, 'No success for');
    await page.keyboard.press('j');
    const name = await page.evaluate('document.activeElement.textContent');
    await page.keyboard.press('a');
    const row = page.locator('main li[data-row]').filter({ hasText: String(name) });
    await row
      .getByText(/^Acknowledged by anonymous/)
      .first()
      .waitFor({ timeout: 2_000 });
    assert.deepEqual(await pressed(page), { clicks: 0, keys: 2 });
    assert.equal(await page.evaluate('document.activeElement.textContent'), name, 'the focus stays');
    await page.getByRole('button', { name: 'Undo' }).click();
    await row
      .getByText(/^Acknowledged by anonymous/)
      .first()
      .waitFor({ state: 'detached' });
  });

  journey('goes on from a line inside an open row to the next row', async (page) => {
    await go(page, '/alerts');
    const rows = page.locator('main li[data-row]');
    await rows.first().locator('[data-line-link]').first().focus();
    await page.keyboard.press('j');
    const second = await rows.nth(1).getAttribute('data-row');
    assert.equal(await page.evaluate("document.activeElement.closest('[data-row]').dataset.row"), second);
  });

  journey('silences a row by keys, and its focus is where it was', async (page) => {
    await go(page, '/alerts');
    await seen(page, 'No success for');
    await page.keyboard.press('j');
    const focused = (): Promise<unknown> =>
      page.evaluate(
        "[document.activeElement.closest('[data-row]')?.dataset.row, document.activeElement.matches('[data-row-link]')].join()",
      );
    const before = await focused();
    assert.match(String(before), /^[a-z]+\/[a-z-]+,true$/);
    await page.keyboard.press('s');
    await page.getByRole('dialog').getByRole('button', { name: 'For 4 h' }).press('Enter');
    await seen(page, /^Silenced /);
    await page
      .getByText(/^Silenced by anonymous/)
      .first()
      .waitFor();
    await until(page, "document.querySelector('[role=dialog]') === null");
    assert.equal(await focused(), before);
    await page.keyboard.press('j');
    assert.notEqual(await focused(), before, 'and the next key goes on from there');
  });

  journey('walks from run to run by [ and ], and back to the page before by Backspace', async (page) => {
    const member = service().fleet.find(({ item }) => item.name === 'nightly-backup');
    assert.ok(member);
    const names = (member.item.recentRuns ?? []).flatMap(({ jobName }) => jobName ?? []);
    const [earlier, later] = names.slice(-2);
    const address = (jobName: string | undefined): string => `**/cronjobs/data/nightly-backup/runs/${jobName}`;
    await go(page, '/cronjobs/data/nightly-backup');
    await page.getByRole('table', { name: 'Last runs' }).locator('[data-row-link]').first().click();
    await page.waitForURL(address(later));
    await page.getByRole('link', { name: 'Run before' }).waitFor();
    await page.keyboard.press('[');
    await page.waitForURL(address(earlier));
    await page.getByRole('link', { name: 'Run after' }).waitFor();
    await page.keyboard.press(']');
    await page.waitForURL(address(later));
    await page.keyboard.press('Backspace');
    await page.waitForURL(address(earlier));
    await page.keyboard.press('Backspace');
    await page.waitForURL(address(later));
    await page.keyboard.press('Backspace');
    await page.waitForURL('**/cronjobs/data/nightly-backup');
  });

  journey('leads from a run to its alert', async (page) => {
    const member = service().fleet.find(({ item }) => item.name === 'nightly-backup');
    const failed = member?.item.recentRuns?.findLast(({ status }) => status === 'failed')?.jobName ?? '';
    await go(page, `/cronjobs/data/nightly-backup/runs/${failed}`);
    const alerts = page.getByRole('list', { name: 'Alerts of this run' });
    await alerts.getByRole('link').first().click();
    await page.waitForURL(/\/alerts\/019b/);
    await page.getByRole('heading', { level: 1, name: 'data/nightly-backup' }).waitFor();
  });

  journey('resumes at once, without a dialog, and can be undone', async (page) => {
    await go(page, '/cronjobs/platform/legacy-sync');
    await page.evaluate(`new MutationObserver(() => {
      if (document.querySelector('[role=dialog], [role=alertdialog]')) window.hadDialog = true;
    }).observe(document.body, { childList: true, subtree: true })`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await seen(page, 'Resumed platform/legacy-sync');
    assert.equal((await pressed(page)).clicks, 1);
    assert.equal(await page.evaluate('window.hadDialog === true'), false);
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, 'Suspended platform/legacy-sync');
  });

  journey('silences a row for 4 h by two clicks, and undoes it by one', async (page) => {
    await go(page, '/');
    const row = page.getByRole('listitem').filter({ hasText: 'nightly-backup' }).first();
    await row.getByRole('button', { name: 'Actions of data/nightly-backup' }).click();
    await page.getByRole('menuitem', { name: 'Silence for 4 h' }).click();
    await row.getByText(/^Silenced by anonymous/).waitFor({ timeout: 2_000 });
    assert.equal((await pressed(page)).clicks, 2);
    await page.getByRole('button', { name: 'Undo' }).click();
    await row.getByText(/^Silenced by anonymous/).waitFor({ state: 'detached' });
    assert.equal((await pressed(page)).clicks, 3);
  });

  journey('chooses a range, and says of each row that is refused why', async (page) => {
    await go(page, '/cronjobs?ns=billing');
    await seen(page, 'ledger-close');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    const count = await page.locator('main [data-row]').count();
    for (let row = 1; row < count; row++) await page.keyboard.press('j');
    await page.keyboard.press('Shift+X');
    assert.equal(await chosen(page), count);
    await page.getByRole('region', { name: 'Chosen rows' }).getByRole('button', { name: 'Suspend' }).click();
    const bar = page.getByRole('region', { name: 'Chosen rows' });
    await bar.getByText('1 row left as it was').waitFor();
    await bar.getByText('You need the right to patch cronjobs in billing').waitFor();
    assert.equal(await chosen(page), 1, 'what was refused stays chosen');
    await page.keyboard.press('Escape');
    assert.equal(await chosen(page), 0);
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, /^Taken back for/);
    assert.equal(bulk().length, 2);
  });

  journey('exports the rows that are chosen, and no others', async (page) => {
    await go(page, '/cronjobs');
    await seen(page, 'No success for');
    await page.keyboard.press('Shift+J');
    await page.keyboard.press('Shift+J');
    await page.getByRole('region', { name: 'Chosen rows' }).getByRole('button', { name: 'Export' }).click();
    await page.getByRole('menuitem', { name: 'Chosen rows as CSV' }).click();
    await until(page, 'true');
    await seen(page, /^Saved /);
    const asked = service().asked.find((line) => line.includes('format=csv')) ?? '';
    assert.match(
      decodeURIComponent(asked),
      /^GET cronjobs\?refs=[a-z-]+\/[a-z-]+,[a-z-]+\/[a-z-]+&kind=CronJob,Jobs&format=csv$/,
    );
  });

  journey('draws a run that was triggered within 200 ms of the answer, after one click', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    const button = page.getByRole('button', { name: 'Trigger', exact: true });
    await button.waitFor();
    await page.evaluate(`new MutationObserver(() => {
      if (document.querySelector('table[aria-label="Active runs"]')?.textContent.includes('nightly-backup-manual-'))
        window.drawnAt ??= performance.now();
    }).observe(document.body, { childList: true, subtree: true })`);
    await button.click();
    await page.getByRole('table', { name: 'Active runs' }).getByText('nightly-backup-manual-1795243921').waitFor();
    assert.equal((await pressed(page)).clicks, 1);
    const tookMs = await page.evaluate<number>(
      "window.drawnAt - performance.getEntriesByType('resource').find(({ name }) => name.endsWith('/trigger')).responseEnd",
    );
    assert.ok(tookMs <= 200, `${tookMs} ms`);
    await seen(page, /Started nightly-backup-manual-/);
    const link = page.getByRole('link', { name: 'Open the run' }).last();
    assert.equal(
      await link.getAttribute('href'),
      '/cronjobs/data/nightly-backup/runs/nightly-backup-manual-1795243921',
    );
  });

  journey('starts one run for a double click', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    const isTrigger = (line: string): boolean => line.startsWith('POST cronjobs/data/nightly-backup/trigger');
    const before = service().asked.filter(isTrigger).length;
    await page.getByRole('button', { name: 'Trigger', exact: true }).dblclick();
    await seen(page, /Started nightly-backup-manual-/);
    assert.equal(service().asked.filter(isTrigger).length - before, 1);
  });

  journey('asks before it starts a run beside one that the policy would not allow', async (page) => {
    const sync = service().fleet.find(({ item }) => item.name === 'hourly-sync');
    assert.ok(sync);
    Object.assign(sync.item, { runningJobs: 1 });
    await go(page, `/cronjobs/${sync.item.namespace}/hourly-sync`);
    await page.getByRole('button', { name: 'Trigger', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/Its policy is Forbid: a run now starts beside it/).waitFor();
    await dialog.getByRole('button', { name: 'Start beside it' }).click();
    await seen(page, /Started hourly-sync-manual-/);
    assert.ok(service().asked.includes(`POST cronjobs/${sync.item.namespace}/hourly-sync/trigger?force=true`));
  });

  journey(
    'chooses a row on a phone by the menu of a long press, and more by a press each, with nothing cut off',
    async (page) => {
      await go(page, '/cronjobs');
      await seen(page, 'No success for');
      const touch = { pointerType: 'touch', bubbles: true, cancelable: true, clientX: 60, clientY: 300, detail: 1 };
      const rows = page.locator('main [data-row]');
      await rows.first().dispatchEvent('pointerdown', touch);
      await page.getByRole('menuitem', { name: 'Choose with others' }).waitFor();
      await rows.first().dispatchEvent('pointerup', touch);
      await rows.first().dispatchEvent('click', touch);
      assert.match(page.url(), /\/cronjobs$/, 'the end of the press opens nothing');
      await page.getByRole('menuitem', { name: 'Choose with others' }).click();
      await page.getByText('1 row chosen').waitFor();
      await rows.nth(1).dispatchEvent('pointerdown', touch);
      await page.getByText('2 rows chosen').waitFor();
      await rows.nth(1).dispatchEvent('pointerup', touch);
      await rows.nth(1).dispatchEvent('click', touch);
      assert.equal(await chosen(page), 2);
      await page.getByRole('region', { name: 'Chosen rows' }).getByRole('button', { name: 'Acknowledge' }).click();
      await seen(page, /^Acknowledged /);
      assert.equal(await sidewaysPx(page), 0);
    },
    { width: 390 },
  );

  for (const [path, lines] of [
    ['/cronjobs/data/nightly-backup', ['Trigger', 'Suspend', 'Silence for 1 h', 'Print']],
    ['/alerts/019b-data%2Fnightly-backup', ['Acknowledge', 'Silence for 1 h', 'CronJob data/nightly-backup']],
    ['/cronjobs/data/nightly-backup/runs/$run', ['Trigger again', 'Run before', 'Copy kubectl logs']],
    ['/monitors/billing/all', ['Its CronJobs', 'Silence its alerts', 'Copy the manifest']],
  ] as const) {
    journey(
      `has the actions of ${path} in the bar of a phone, and nowhere else`,
      async (page) => {
        const member = service().fleet.find(({ item }) => item.name === 'nightly-backup');
        assert.ok(member);
        const run = member.item.recentRuns?.findLast(({ jobName }) => jobName !== null)?.jobName ?? '';
        await go(page, path.replace('$run', run));
        await page.getByRole('button', { name: 'Actions of this page' }).click();
        for (const name of lines) await page.getByRole('menuitem', { name }).first().waitFor();
        await page.keyboard.press('Escape');
        assert.equal(await page.locator('main .actions').isVisible(), false);
        assert.equal(await sidewaysPx(page), 0);
      },
      { width: 390 },
    );
  }

  journey(
    'has room for the bar of chosen rows at twice the size of text',
    async (page) => {
      await go(page, '/cronjobs');
      await seen(page, 'No success for');
      await page.keyboard.press('Shift+J');
      const bar = page.getByRole('region', { name: 'Chosen rows' });
      for (const name of ['Acknowledge', 'Silence', 'Suspend', 'Export', 'Clear']) {
        const box = await bar.getByRole('button', { name }).boundingBox();
        assert.ok(box && box.x >= 0 && box.x + box.width <= 320, name);
      }
      assert.equal(await sidewaysPx(page), 0);
    },
    { width: 320 },
  );
}
