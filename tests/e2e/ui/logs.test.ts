import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { ExecutionDetail, JobLogs } from '@cronjob-monitor/shared/contract';
import { whyNoBrowser } from './fixtures/browser.ts';
import { foundInLogs } from './fixtures/answers/index.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('what the log says, in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();
  const path = 'cronjobs/data/nightly-backup/runs/nightly-backup-29920440';

  journey('asks for no log that is known to be gone, and names no step that leads to the run itself', async (page) => {
    const asked = path.replace('/runs/', '/executions/');
    const run = (await (await page.request.get(`${service().url}/api/v1/${asked}`)).json()) as ExecutionDetail;
    const step = { action: 'openRun', words: 'Open the run', command: null, href: `/${path}` } as const;
    const logs = { container: 'backup', text: '', truncated: false, capturedAt: run.createdAt, unavailable: 'podGone' };
    const verdict = { ...run.verdict, step };
    service().answer(asked, { value: { ...run, suggestedFix: null, verdict, hasLogs: false, logs } });
    await go(page, `/${path}`);
    await seen(page, 'It was looked for when the run ended: its pod was gone before its log could be read.');
    await page.getByRole('heading', { name: 'Facts' }).waitFor();
    assert.equal(await page.getByText('Open the run').count(), 0);
    assert.deepEqual(
      service().asked.filter((line) => line.includes(`${asked}/logs`)),
      [],
    );
  });

  journey('opens the log of a failed run at its decisive line without being asked', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440');
    await page.locator('.log .marked').getByText('Killed', { exact: true }).waitFor();
    assert.doesNotMatch(page.url(), /#/);
    await page.getByRole('heading', { name: /differ from the last success$/ }).waitFor();
    const asked = service().asked.filter((line) => line.startsWith('GET cronjobs/'));
    const include = 'logs%2Cevents%2Ccompare%2Caround%2Ccronjob';
    assert.deepEqual(
      asked,
      [`GET ${path.replace('/runs/', '/executions/')}?include=${include}`],
      'one request tells all',
    );
  });

  journey('marks the decisive line where it stands in a live log that is longer than the kept one', async (page) => {
    const asked = `${path.replace('/runs/', '/executions/')}/logs`;
    const kept = (await (await page.request.get(`${service().url}/api/v1/${asked}`)).json()) as JobLogs;
    const decisive = (kept.decisive ?? []).map((line) => ({ ...line, number: line.number + 10 }));
    const live = {
      source: 'live',
      logs: `${'INFO earlier\n'.repeat(10)}${kept.logs}`,
      lines: kept.lines + 10,
      decisive,
    };
    service().answer(asked, { value: { ...kept, ...live } });
    await go(page, '/');
    await page
      .getByRole('link', { name: /^L102 of the log of nightly-backup-/ })
      .first()
      .click();
    const marked = page.locator('.log .marked');
    await marked.getByText('Killed', { exact: true }).waitFor();
    await marked.getByRole('button', { name: 'Link to line 112' }).waitFor();
    assert.equal(await marked.count(), 1);
  });

  journey(
    'says what changed since the last success: changed rows first, equal ones folded, the logs as difference',
    async (page) => {
      await go(page, '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440');
      await page
        .getByRole('heading', { name: /^Image, arguments, env names and node differ from the last success$/ })
        .waitFor();
      const table = page.locator('#compare table');
      const rows = await table.getByRole('row').allTextContents();
      assert.deepEqual(
        rows.slice(1, 4).map((row) => row.trim().split(/\s+/)[0]),
        ['Image', 'Arguments', 'Env'],
      );
      assert.match(rows.join(), /backup:1\.9\.0.*backup:1\.8\.2/);
      assert.doesNotMatch(rows.join(), /hash:/);
      await table.getByRole('button', { name: '4 equal' }).click();
      await table.getByText('256Mi').first().waitFor();
      await page.getByRole('button', { name: 'Difference', exact: true }).click();
      await page.waitForURL(/log=difference/);
      const log = page.getByRole('region', { name: 'Difference of the logs' });
      assert.match((await log.locator('.del').textContent()) ?? '', /^\s*97\s*-\s*INFO 19 of 19 tables/);
      await log.locator('.add .hit').getByText('Last line that speaks of an error').waitFor();
      const before = await log.locator('.line').count();
      await log.getByRole('button', { name: /^\d+ common lines folded$/ }).click();
      assert.ok((await log.locator('.line').count()) > before + 80);
      await page.getByRole('button', { name: 'Side by side' }).click();
      await log.locator('.pair').first().waitFor();
    },
  );

  journey('compares any two runs that are chosen in the list of a CronJob', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup?part=runs');
    const boxes = page.getByRole('checkbox', { name: /^Compare the run of/ });
    await boxes.nth(1).check();
    assert.equal(await page.getByRole('link', { name: 'Compare two runs' }).count(), 0);
    await boxes.nth(3).check();
    await page.getByRole('link', { name: 'Compare two runs' }).click();
    await page.waitForURL(/runs\/nightly-backup-\d+\?with=nightly-backup-\d+#compare$/);
    await page.getByRole('heading', { name: /(from|beside) the run of 2026-11-/ }).waitFor();
    await page.getByRole('button', { name: 'Compare with' }).click();
    await page
      .getByRole('menuitemradio', { name: 'The last success' })
      .or(page.getByRole('menuitem', { name: 'The last success' }))
      .click();
    await page.getByRole('heading', { name: /the last success$/ }).waitFor();
    assert.doesNotMatch(page.url(), /with=/);
  });

  journey('finds text in a log, keeps it in the address, and links to a line', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440');
    await page.getByRole('searchbox', { name: 'Find in the log' }).fill('heap');
    await seen(page, '1 of 1');
    await page.locator('.log mark').getByText('heap').waitFor();
    await page.waitForURL(/find=heap/);
    await page.getByRole('button', { name: 'Link to line 102' }).click();
    assert.match(page.url(), /#L102$/);
    await page.reload();
    await page.locator('.marked').getByText('Killed').waitFor();
    await seen(page, '1 of 1');
  });

  journey('finds a text in all logs from the runs of a CronJob, goes on, and opens a run at the line', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup?part=runs');
    await page.getByRole('searchbox', { name: 'Find in all logs' }).fill('heap');
    await page.waitForURL(/\/search\?q=heap&ns=data&cronjob=nightly-backup/);
    await page.locator('main mark').getByText('heap').first().waitFor();
    await page.getByText('INFO heap 467 MiB').first().waitFor();
    await page.getByText('Killed').first().waitFor();
    await page.getByRole('link', { name: 'nightly-backup' }).first().click();
    await page.waitForURL(
      /runs\/nightly-backup-\d+\?pod=nightly-backup-\d+-x7kqm&container=backup&source=stored#L101$/,
    );
    await page.locator('.log .marked').getByText('INFO heap 467 MiB').waitFor();
    const asked = service().asked.filter((line) => /\/logs\?/.test(line));
    assert.match(asked.at(-1) ?? '', /source=stored/, 'its number is that of the kept log');
    await page.getByRole('button', { name: 'Kept log' }).click();
    await page.waitForURL(/container=backup$/);
    await page.getByRole('button', { name: 'Kept log' }).waitFor({ state: 'detached' });
    // Fifty lines are enough until more are asked for.
    const made = async (query: URLSearchParams): Promise<unknown> => {
      const { items, ...found } = foundInLogs(service().fleet, query);
      const [hit] = items;
      return query.has('cursor') || query.has('status')
        ? { ...found, items, complete: true, cursor: null }
        : { ...found, items: Array.from({ length: 50 }, (_, at) => ({ ...hit, number: at + 1 })) };
    };
    service().answer('logs/search', { made });
    await go(page, '/search?q=heap');
    await seen(page, '50 lines');
    await seen(page, /^Searched back to /);
    await page.getByRole('button', { name: 'Go on' }).click();
    await seen(page, '53 lines');
    await page.getByRole('button', { name: 'Failed' }).click();
    await page.waitForURL(/status=failed/);
    await seen(page, '3 lines');
  });
});
