import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Overview } from '@cronjob-monitor/shared/contract';
import type { Browser } from 'playwright-core';
import { health } from './fixtures/answers/index.ts';
import { startFakeService, type FakeService } from './fixtures/api-server.ts';
import { builtUi, openPage, startBrowser, until, whyNoBrowser } from './fixtures/browser.ts';

/** Scrolls a long way, a step each frame, and tells how long each frame took. */
const scrollThrough = `new Promise((resolve) => {
  const frames = [];
  let before = performance.now();
  let steps = 0;
  const step = () => {
    const at = performance.now();
    frames.push(at - before);
    before = at;
    scrollBy(0, 300);
    if (++steps < 120) requestAnimationFrame(step);
    else resolve(frames.slice(1));
  };
  requestAnimationFrame(step);
})`;

/** Adds up by how much the page moves by itself. */
const noteShifts = `globalThis.shift = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
  }).observe({ type: 'layout-shift', buffered: true });`;

describe('ten thousand CronJobs', { skip: whyNoBrowser() ?? false }, () => {
  let browser: Browser;
  let service: FakeService;

  before(async () => {
    service = await startFakeService({ uiFolder: await builtUi(), extra: 9_985 });
    browser = await startBrowser();
  });
  after(async () => {
    await browser.close();
    await service[Symbol.asyncDispose]();
  });

  test('are a list with at most sixty rows in the document, read in windows of a hundred', async (context) => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.goto(`${service.url}/cronjobs`);
    await page.getByText('nightly-backup').first().waitFor();
    await page.getByText('10,000 CronJobs').waitFor();
    const asked = service.asked.length;
    const frames = await page.evaluate<number[]>(scrollThrough);
    const sorted = [...frames].sort((a, b) => a - b);
    const usual = sorted[Math.floor(sorted.length * 0.95)] ?? 0;
    context.diagnostic(
      `scrolling: 95 % of frames within ${usual.toFixed(0)} ms, the longest ${sorted.at(-1)?.toFixed(0)} ms`,
    );
    assert.ok((await page.locator('tbody tr:not(.space)').count()) <= 60);
    const windows = service.asked.slice(asked).filter((line) => line.startsWith('GET cronjobs?'));
    assert.ok(windows.length > 2 && windows.every((line) => line.includes('limit=100')), windows.join());
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await until(page, `document.querySelector('[aria-rowindex="10001"] a') !== null`);
    assert.ok((await page.locator('tbody tr:not(.space)').count()) <= 60);
    assert.deepEqual(opened.complaints, []);
  });

  test('are pages that a banner, which is heard of late, does not push down', async () => {
    const unwell = { ...health, status: 'degraded', problems: ['A message that is due has waited for 7 min'] };
    for (const [path, list] of [
      ['/alerts', 'incidents'],
      ['/cronjobs', 'cronjobs'],
    ] as const) {
      const before = service.asked.length;
      let askedMeanwhile: readonly string[] = [];
      const made = async (): Promise<unknown> => {
        await new Promise((resolve) => setTimeout(resolve, 400));
        askedMeanwhile = service.asked.slice(before);
        return unwell;
      };
      service.answer('health', { made });
      await using opened = await openPage(browser, { viewport: { width: 390, height: 844 } });
      const { page } = opened;
      await page.addInitScript({ content: noteShifts });
      await page.goto(service.url + path);
      await page.getByText('nightly-backup').first().waitFor();
      await page.getByText('A message that is due has waited for 7 min').waitFor();
      const shift = await page.evaluate<number>('globalThis.shift');
      assert.ok(shift < 0.02, `${path}: layout shift ${shift}`);
      const isAsked = askedMeanwhile.some((line) => line.startsWith(`GET ${list}?`));
      assert.ok(isAsked, `${path} waits for no health before it asks for what it shows: ${askedMeanwhile.join()}`);
    }
    service.answer('health', undefined);
  });

  test('are pages that a banner does not push down which is heard of after they were shown without', async () => {
    const unwell = { ...health, status: 'degraded', problems: ['A message that is due has waited for 7 min'] };
    const heard = Promise.withResolvers<unknown>();
    service.answer('health', { made: () => heard.promise });
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.addInitScript({ content: noteShifts });
    await page.clock.install();
    await page.goto(`${service.url}/cronjobs`);
    await page.getByText('nightly-backup').first().waitFor({ state: 'attached' });
    await page.clock.fastForward(3_000);
    await page.getByText('nightly-backup').first().waitFor();
    heard.resolve(unwell);
    await page.getByText('A message that is due has waited for 7 min').waitFor();
    service.answer('health', undefined);
    const shift = await page.evaluate<number>('globalThis.shift');
    assert.ok(shift < 0.005, `layout shift ${shift}`);
  });

  test('are pages that stay where they are as a banner comes while they are read, and have it on top at the next visit', async () => {
    const problems = ['The controller does not answer'];
    const unwell = { ...health, status: 'degraded', problems } as const;
    const overview = (await (await fetch(`${service.url}/api/v1/overview?zone=UTC`)).json()) as Overview;
    for (const width of [1440, 390]) {
      for (const path of ['/', '/alerts', '/cronjobs', '/wall']) {
        await using opened = await openPage(browser, { viewport: { width, height: 844 } });
        const { page } = opened;
        await page.addInitScript({ content: noteShifts });
        await page.clock.install();
        await page.goto(service.url + path);
        await page.getByText('nightly-backup').first().waitFor();
        // The page has heard how the service is, and a moment later its banners are settled, however slow the machine is.
        await page.locator('.evaluated').waitFor({ state: 'attached' });
        await page.clock.fastForward(1_000);
        const before = await page.evaluate<number>('globalThis.shift');
        service.answer('health', { value: unwell });
        service.answer('overview', {
          value: { ...overview, service: { ...overview.service, status: 'degraded', problems } },
        });
        const banner = page.getByRole('status').filter({ hasText: problems[0] ?? '' });
        // A page that just opens its stream anew, for other rows, hears what is said the next time.
        for (let tries = 0; tries < 20 && !(await banner.isVisible()); tries++) {
          service.say('health', unwell);
          await banner.waitFor({ timeout: 1_000 }).catch(() => undefined);
        }
        await banner.waitFor();
        const shift = (await page.evaluate<number>('globalThis.shift')) - before;
        assert.ok(shift < 0.005, `${path} at ${width}: layout shift ${shift}`);
        assert.ok(((await banner.boundingBox())?.y ?? 0) > 600, 'at the foot of the window');
        await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
        const last = await page.evaluate<number>(
          `Math.max(...[...document.querySelectorAll('main > :not(:has(.banner))')].map((one) => one.getBoundingClientRect().bottom))`,
        );
        const top = (await banner.boundingBox())?.y ?? 0;
        // Rows of a long list are made as they come.
        const isWhole = path !== '/cronjobs';
        assert.ok(
          !isWhole || last <= top,
          `${path} at ${width}: at its end the page, to ${last}, is under the banner at ${top}`,
        );
        await page.evaluate('document.querySelector(\'a[href$="/silences"]\').click()');
        await page.waitForURL('**/silences');
        await until(page, `document.querySelector('main .banner').getBoundingClientRect().top < 200`);
        for (const asked of ['health', 'overview']) service.answer(asked, undefined);
      }
    }
  });

  test('are alerts whose history waits for what stands above it', async () => {
    const made = async (): Promise<unknown> => {
      await new Promise((resolve) => setTimeout(resolve, 900));
      return { items: [], pagination: { total: 0, limit: 100, offset: 0, hasMore: false } };
    };
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.addInitScript({ content: noteShifts });
    service.answer('incidents', { made });
    await page.goto(`${service.url}/alerts`);
    await page.getByRole('heading', { name: 'History' }).waitFor();
    await page.getByText('No active alert').waitFor();
    service.answer('incidents', undefined);
    const shift = await page.evaluate<number>('globalThis.shift');
    assert.ok(shift < 0.02, `layout shift ${shift}`);
  });

  test('are a dashboard that does not move once it is painted', async (context) => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.addInitScript({ content: noteShifts });
    await page.goto(service.url);
    await page.getByText('No success for').first().waitFor();
    await page.waitForTimeout(500);
    const painted = await page.evaluate<number>(`performance.getEntriesByName('first-contentful-paint')[0].startTime`);
    const shift = await page.evaluate<number>('globalThis.shift');
    context.diagnostic(`first contentful paint ${painted.toFixed(0)} ms, layout shift ${shift.toFixed(3)}`);
    assert.ok(shift < 0.02, `layout shift ${shift}`);
  });
});
