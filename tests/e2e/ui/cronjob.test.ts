import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { CronJobDetail } from '@cronjob-monitor/shared/contract';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the pages of a CronJob and of its runs', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey(
    'shows one part of a CronJob at a time, by key and by address, and asks for that part alone',
    async (page) => {
      await go(page, '/cronjobs/data/nightly-backup');
      await seen(page, 'Last runs');
      const parts = page.getByRole('navigation', { name: 'Parts of nightly-backup' });
      const current = parts.locator('[aria-current="page"]');
      const asked = (): string[] =>
        service().asked.filter((line) => /^GET (cronjobs\/data|monitors|advice\?cronjob|tonight|sla)/.test(line));
      const detail = 'GET cronjobs/data/nightly-backup?recent=90&include=';
      const rail = 'advice%2Ctonight%2Ctargets&zone=UTC';
      assert.deepEqual(asked(), [`${detail}route%2C${rail}`], 'what a part shows is asked for by that part');
      await page.keyboard.press('2');
      await page.waitForURL(/part=runs$/);
      await page.getByRole('table', { name: 'Runs, newest first' }).waitFor();
      assert.match((await current.textContent()) ?? '', /Runs/);
      assert.equal(await page.getByRole('region', { name: 'Verdict' }).count(), 0);
      assert.deepEqual(asked().slice(1), [`${detail}runs%2Cslots%2Croute%2C${rail}`]);
      await page.getByRole('button', { name: '7 d', exact: true }).click();
      await page.waitForURL(/days=7/);
      assert.equal(asked().filter((line) => line.includes('/series')).length, 0);
      await page.keyboard.press('3');
      await page.waitForURL(/part=trends&days=7$/);
      await seen(page, /^Success of each day since/);
      await page.keyboard.press('4');
      await page.getByRole('button', { name: 'Delete history' }).waitFor();
      await page.getByRole('complementary', { name: 'At a glance' }).getByText('Usual duration').waitFor();
      await page.goBack();
      await page.goBack();
      await page.getByRole('table', { name: 'Runs, newest first' }).waitFor();
    },
  );

  journey('asks again for a risk that is counted from runs once a run succeeds, and for no other', async (page) => {
    const path = 'cronjobs/data/nightly-backup';
    const query = 'recent=90&include=route,advice,tonight,targets&zone=UTC';
    const detail = (await (await page.request.get(`${service().url}/api/v1/${path}?${query}`)).json()) as CronJobDetail;
    const risk = (code: string, words: string): object => ({ code, level: 'likely', words });
    let risks = [risk('repeats', 'Failed the last 2 nights')];
    const tonight = { ...detail.tonight, at: [], runs: 1, expectedSeconds: null, p95Seconds: null };
    service().answer(path, { made: async () => ({ ...detail, tonight: { ...tonight, risks } }) });
    await go(page, `/${path}`);
    await seen(page, 'At risk: Failed the last 2 nights');
    const asked = (): number => service().asked.filter((line) => line.startsWith(`GET ${path}?`)).length;
    const succeed = (): void =>
      service().say('execution', {
        namespace: 'data',
        cronJobName: 'nightly-backup',
        jobName: 'nightly-backup-1',
        status: 'success',
      });
    risks = [risk('deaf', 'If it fails, no channel is told')];
    succeed();
    await page.getByText('At risk: Failed the last 2 nights').waitFor({ state: 'detached' });
    await seen(page, 'At risk: If it fails, no channel is told');
    const before = asked();
    succeed();
    await page.waitForTimeout(1_000);
    assert.equal(asked(), before);
  });

  journey('has the days under the strip of its runs, and a line where each begins', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    await seen(page, 'Last runs');
    const labels = await page.locator('main .days span').allTextContents();
    assert.ok(labels.length >= 4, labels.join());
    for (const label of labels) assert.match(label, /^\d{1,2} [A-Z][a-z][a-z]$/);
    const boxes = await page.locator('main .days span').evaluateAll((spans) =>
      spans.map((span) => {
        const { left, right } = span.getBoundingClientRect();
        return { left, right };
      }),
    );
    assert.ok(boxes.every(({ left }, index) => index === 0 || left > (boxes[index - 1]?.right ?? 0)));
    const lines = await page.locator('main .frame path.ground').getAttribute('d');
    const isFirstLabelled = boxes[0]?.left === (await page.locator('main .days').boundingBox())?.x;
    assert.equal(lines?.match(/V/g)?.length, labels.length - Number(isFirstLabelled), 'none before the first run');
  });

  journey(
    'has each run, target and CronJob as a card of 104 pixels on a phone, with all that the card said before',
    async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      for (const [path, facts] of [
        [
          '/cronjobs/data/nightly-backup?part=runs',
          [/^\d{4}-\d\d-\d\d \d\d:\d\d$/, /^Failed$/, /\d+ min/, /^Exit code 137/],
        ],
        [
          '/sla',
          [/^nightly-backup$/, /^Success, 95 % in 7 d$/, /^Breached$/, / x$/, /^\d+ failures? over$/, /^\d+ of \d+$/],
        ],
        ['/cronjobs', [/^nightly-backup$/, /^Critical$/, /^No success for/, /^in \d/]],
      ] as const) {
        await go(page, path);
        const cards = page.locator('main tr[data-row]');
        await cards
          .filter({ hasText: path === '/sla' ? 'Breached' : /Failed|Critical/ })
          .first()
          .waitFor();
        const heights = await cards.evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height));
        // A sentence of two lines has both: of the others none is higher.
        const sentencePx = path === '/cronjobs' ? 18 : 0;
        const usual = heights.toSorted((a, b) => a - b)[Math.floor(heights.length / 2)] ?? Infinity;
        assert.ok(heights.length >= 5 && usual <= 104, `${path}: ${heights.join()}`);
        assert.ok(Math.max(...heights) <= 104 + sentencePx, `${path}: ${heights.join()}`);
        const first = cards.filter({ hasText: path.includes('runs') ? 'Failed' : 'nightly-backup' }).first();
        for (const fact of facts)
          assert.ok(await first.getByText(fact).first().isVisible(), `${path}: ${String(fact)}`);
      }
    },
    { width: 390 },
  );

  journey('shows the numbers of a chart as a table', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup?part=trends');
    await seen(page, /^\d+ runs? took|^Runs (rose|fell)/);
    await page.getByRole('button', { name: 'Show as table' }).first().click();
    await page.getByRole('cell', { name: '2026-11-21 02:00' }).first().waitFor();
  });
});
