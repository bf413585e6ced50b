import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { CoverageList, IncidentList, Overview } from '@cronjob-monitor/shared/contract';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('the first page', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey('shows what is wrong in the order of the incidents, all of it from one answer', async (page) => {
    await go(page, '/');
    await seen(page, 'No success for');
    const listed = await page
      .locator('main li[data-row]:has(.says)')
      .evaluateAll((rows) => rows.map((row) => row.getAttribute('data-row')));
    const answer = await page.request.get(`${service().url}/api/v1/incidents?limit=20`);
    const { items } = (await answer.json()) as IncidentList;
    const expected = items.map(({ cronjob: { namespace, name } }) => `${namespace}/${name}`);
    const open = listed.length;
    assert.ok(open >= 4, listed.join());
    assert.deepEqual(
      listed,
      expected.filter((key) => listed.includes(key)),
    );
    assert.deepEqual(listed.slice(0, 4), expected.slice(0, 4));
  });

  journey(
    'asks for who it is and for the overview, follows the changes, and then for the clusters: nothing else',
    async (page) => {
      await go(page, '/');
      await seen(page, 'No success for');
      while (!service().asked.includes('GET clusters')) await page.waitForTimeout(50);
      await page.waitForTimeout(1_500);
      assert.deepEqual(
        service()
          .asked.map((line) => line.replace(/^(GET events\/stream)\?.*/, '$1'))
          .toSorted(),
        ['GET clusters', 'GET events/stream', 'GET overview?zone=UTC', 'GET whoami'],
      );
      const counts = page.getByRole('navigation', { name: 'Pages' }).first();
      await counts.getByText('not ready').waitFor();
      await counts.getByText('findings').waitFor();
    },
  );

  journey('says of an incident that is folded what the log says, where nothing else explains it', async (page) => {
    const sync = service().fleet.find(({ item }) => item.name === 'price-sync');
    assert.ok(sync?.item.verdict);
    const text = 'FATAL: password authentication failed for user "prices"';
    const logLine = { text, number: 2, jobName: 'price-sync-1', pod: 'price-sync-1-x', href: '/' };
    Object.assign(sync.item, { verdict: { ...sync.item.verdict, state: 'failing', cause: null, logLine } });
    await go(page, '/');
    const row = page.locator('li[data-row="prod/price-sync"]:not(.open)');
    await row.getByText(text).waitFor();
  });

  journey(
    'calls nothing running that has not started',
    async (page) => {
      await go(page, '/');
      const row = page.locator('li[data-row="prod/search-reindex"]');
      await row.getByText('Not started for').waitFor();
      assert.equal(await row.getByText('Running').count(), 0);
      const reindex = service().fleet.find(({ item }) => item.name === 'search-reindex');
      assert.ok(reindex && reindex.item.runningJobs > 0);
      // Before an alert tells of it.
      Object.assign(reindex.item, { verdict: { ...reindex.item.verdict, state: 'failing', kind: 'waiting' } });
      await go(page, '/alerts');
      await row.getByText('Not started for').waitFor();
      assert.equal(await row.getByText('Running').count(), 0);
      await go(page, '/cronjobs/prod/search-reindex');
      await seen(page, '1 active run');
      assert.equal(await page.locator('main .badge', { hasText: 'Running' }).count(), 0);
      await page.locator('main [data-row-link]', { hasText: 'search-reindex-' }).first().click();
      await page.locator('main .badge', { hasText: 'Not started' }).first().waitFor();
      await seen(page, /^Not started for .+: ImagePullBackOff$/);
    },
    // The record of a run that goes on, and its log.
    { expected: /404/ },
  );

  journey(
    'has the filters of each list in one line from 1,024 pixels on',
    async (page) => {
      for (const width of [1_024, 1_280]) {
        await page.setViewportSize({ width, height: 800 });
        for (const path of ['cronjobs', 'alerts', 'wall', 'sla', 'coverage', 'advice', 'monitors', 'channels']) {
          await go(page, `/${path}`);
          const bar = page.getByRole('search', { name: /^Filters of / });
          await bar.waitFor();
          const heightPx = (await bar.boundingBox())?.height ?? 0;
          assert.ok(heightPx > 0 && heightPx <= 40, `${path} at ${width}: ${heightPx} px`);
        }
      }
    },
    { width: 1024 },
  );

  journey(
    'has them in one line with the counts of a large fleet too, and moves nothing as these come',
    async (page) => {
      for (const width of [1_024, 1_280, 1_440, 1_536]) {
        await page.setViewportSize({ width, height: 900 });
        await go(page, '/cronjobs');
        await page.getByText('10,000 CronJobs').waitFor();
        const heightPx = (await page.getByRole('search', { name: /^Filters of / }).boundingBox())?.height ?? 0;
        assert.ok(heightPx > 0 && heightPx <= 40, `${width}: ${heightPx} px`);
      }
    },
    { extra: 9_985 },
  );

  journey(
    'chooses a state by a list where there is no room for a button each',
    async (page) => {
      await go(page, '/cronjobs');
      await page.getByRole('button', { name: /^State all/ }).click();
      await page.getByRole('checkbox', { name: /^Critical/ }).click();
      await page.waitForURL(/state=critical/);
      await page.getByRole('button', { name: /^State Critical/ }).waitFor();
      await page.getByRole('checkbox', { name: /^Critical/ }).click();
      await page.waitForURL((url) => !url.search.includes('state='));
    },
    { width: 1024 },
  );

  journey('names those at risk as far as there is room, counts the rest and leads to it', async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go(page, '/');
    const card = page.getByRole('region', { name: /^Today until 22:00: / });
    const rows = card.getByRole('listitem');
    await rows.first().waitFor();
    const total = Number(/(\d+) are at risk/.exec((await card.getByRole('heading').textContent()) ?? '')?.[1]);
    const more = card.getByRole('link', { name: /^\d+ more at risk$/ });
    const left = Number.parseInt((await more.textContent()) ?? '', 10);
    assert.equal((await rows.count()) + left, total);
    assert.ok((await rows.count()) >= 4);
    assert.ok((await page.evaluate<number>('document.documentElement.scrollHeight - innerHeight')) <= 0, 'one screen');
    await more.click();
    await page.waitForURL(/\/wall\?keep=atRisk$/);
  });

  journey(
    'has what is wrong, what may go wrong and how the service is within two screens of a phone',
    async (page) => {
      await page.setViewportSize({ width: 390, height: 844 });
      await go(page, '/');
      const box = await page.locator('dl', { hasText: 'Storage' }).boundingBox();
      assert.ok(box && box.y + box.height <= 2 * 844, `it ends at ${box && box.y + box.height} px`);
      const at = async (name: RegExp): Promise<number> =>
        (await page.getByRole('region', { name }).boundingBox())?.y ?? Number.NaN;
      assert.ok((await at(/^Incidents/)) < (await at(/^Today/)) && (await at(/^Last 24 h/)) > box.y);
    },
    { width: 390 },
  );

  journey('names what has been suspended for longest, and leads to all that is', async (page) => {
    await go(page, '/');
    const service = page.getByRole('definition').filter({ hasText: 'legacy-sync for 41 d' });
    await service.getByRole('link').click();
    await page.waitForURL(/\/cronjobs\?state=suspended$/);
  });

  journey(
    'counts on the page of alerts what stands there, and all of it beside the tab',
    async (page) => {
      for (const { item } of service().fleet.slice(15))
        Object.assign(item, { verdict: { ...item.verdict, state: 'failing', words: 'Last run failed' } });
      await go(page, '/alerts');
      await page.getByRole('heading', { name: 'Failing' }).waitFor();
      const total = /\d+/.exec(
        (await page
          .locator('main')
          .getByRole('link', { name: /^Now \d+ CronJobs$/ })
          .textContent()) ?? '',
      )?.[0];
      assert.ok(Number(total) > 100);
      assert.match((await page.locator('main').textContent()) ?? '', /Failing\s*\d+ CronJobs.* on this page/);
      assert.equal(await page.locator('main li[data-row]').count(), 100);
    },
    { extra: 120 },
  );

  journey('gives the first monitor a namespace that has CronJobs which no monitor selects', async (page) => {
    const api = `${service().url}/api/v1`;
    const overview = (await (await page.request.get(`${api}/overview`)).json()) as Overview;
    const none = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 };
    const byState = { ...overview.coverage?.byState, unwatched: 6 };
    const coverage = { ...overview.coverage, byState };
    const empty = {
      ...overview,
      headline: 'Nothing is watched yet',
      states: none,
      incidents: [],
      incidentTotal: 0,
      coverage,
    };
    service().answer('overview', { value: empty });
    const found = (await (await page.request.get(`${api}/coverage`)).json()) as CoverageList;
    const [first] = found.items;
    service().answer('coverage', { value: { ...found, items: [{ ...first, namespace: 'payments' }] } });
    await go(page, '/');
    await seen(page, 'CronJobs that no monitor selects: 6');
    await seen(page, /namespace: payments}/);
    await seen(page, 'this one watches every CronJob of namespace payments.');
  });

  journey('shows what fails where no CronJob is left: what is missing, and groups of Jobs', async (page) => {
    const overview = (await (await page.request.get(`${service().url}/api/v1/overview`)).json()) as Overview;
    const none = { critical: 0, warning: 0, failing: 0, unknown: 0, suspended: 0, healthy: 0 };
    const [first] = overview.incidents;
    assert.ok(first);
    const byState = { ...overview.coverage?.byState, unwatched: 0 };
    const coverage = { ...overview.coverage, byState };
    const gone = { ...overview, headline: 'No CronJob is watched; 1 missing', states: none, coverage };
    service().answer('overview', { value: { ...gone, incidents: [{ ...first, actedOn: null }], incidentTotal: 1 } });
    await go(page, '/');
    await seen(page, '0 of 0 CronJobs and 1 other, worst first');
    await page.locator('main li[data-row]', { hasText: first.cronjob.name }).waitFor();
    await page.getByRole('heading', { name: 'No CronJob is watched', exact: true }).waitFor();
  });

  journey('cuts no sentence of an incident', async (page) => {
    await go(page, '/');
    await seen(page, 'No success for');
    const cut = await page.evaluate<string[]>(`
      [...document.querySelectorAll('main li[data-row] .says')].flatMap((one) => {
        const isCut = one.scrollWidth > one.clientWidth && getComputedStyle(one).overflow === 'hidden';
        const isOver = one.getBoundingClientRect().right > one.closest('.what').getBoundingClientRect().right + 1;
        return isCut || isOver ? [one.textContent] : [];
      })`);
    assert.deepEqual(cut, []);
  });

  journey('says on the first visit that there is no sign-in, and later by a chip that opens it', async (page) => {
    const banner = page.getByText('Authentication is off. Anyone who can open this page may');
    const chip = page.getByRole('button', { name: 'No sign-in' });
    await go(page, '/');
    await banner.waitFor();
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'SLA' }).click();
    await page.waitForURL(/\/sla$/);
    await banner.waitFor();
    await go(page, '/cronjobs');
    await chip.waitFor();
    assert.equal(await banner.count(), 0);
    await chip.click();
    await banner.waitFor();
    assert.equal(await chip.getAttribute('aria-expanded'), 'true');
    await page.getByRole('button', { name: 'Fold' }).click();
    await banner.waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.id'), 'no-sign-in');
  });

  journey('says on one line why the service is not well, and unfolds it', async (page) => {
    const api = `${service().url}/api/v1`;
    const overview = (await (await page.request.get(`${api}/overview`)).json()) as Overview;
    const problems = [
      'the volume of /var/lib/cronjob-monitor/monitor.db is full (0 MB free): make room on it, or enlarge it',
      'a message that is due has waited for 7 min: see whether the controller reaches its channels',
      'the cluster has not answered for 9 min: what has changed since then is not known',
    ];
    service().answer('overview', {
      value: { ...overview, service: { ...overview.service, status: 'degraded', problems } },
    });
    for (const width of [390, 1440]) {
      await page.setViewportSize({ width, height: 844 });
      await go(page, '/');
      const banner = page.getByRole('status').filter({ hasText: 'The volume of' });
      const heightPx = async (): Promise<number> => (await banner.boundingBox())?.height ?? Number.NaN;
      await banner.getByRole('button', { name: 'Show all of it' }).waitFor();
      assert.ok((await heightPx()) <= 36, `${width}: folded ${await heightPx()} px`);
      await banner.getByRole('button', { name: 'Show all of it' }).click();
      await banner.getByRole('button', { name: 'Show one line' }).waitFor();
      assert.ok((await heightPx()) > 36, `${width}: unfolded ${await heightPx()} px`);
      const said = await banner.innerText();
      for (const problem of problems) assert.ok(said.includes(problem.slice(1)), said);
      const isCut = await banner.evaluate((one) =>
        [...one.querySelectorAll('div')].some(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight + 12),
      );
      assert.equal(isCut, false);
    }
  });

  journey('leads from an alert that no channel was told to the channel that refuses', async (page) => {
    const api = `${service().url}/api/v1`;
    const overview = (await (await page.request.get(`${api}/overview`)).json()) as Overview;
    const [first, ...others] = overview.incidents;
    assert.ok(first?.verdict.told);
    const [one] = first.verdict.told.channels;
    assert.ok(one);
    const refused = { ...one, channel: 'billing-hook', state: 'parked', httpStatus: 401, category: 'auth' } as const;
    const told = { ...first.verdict.told, state: 'held', reason: 'parked', word: null, channels: [refused] } as const;
    const incidents = [{ ...first, verdict: { ...first.verdict, told } }, ...others];
    service().answer('overview', { value: { ...overview, incidents } });
    await go(page, '/');
    const row = page.locator(`li[data-row="${first.cronjob.namespace}/${first.cronjob.name}"]`);
    await row
      .getByText(/has taken no message of it since .* \(401\), and no other channel was told: open it/)
      .waitFor();
    await row.getByRole('link', { name: 'billing-hook', exact: true }).click();
    await page.waitForURL(/\/channels\/billing-hook$/);
  });

  journey('names each mark of a row under the pointer and the keys, and leads to its run', async (page) => {
    await go(page, '/');
    const marks = page.locator('main [data-row="data/nightly-backup"]').getByRole('slider');
    const box = await marks.boundingBox();
    assert.ok(box);
    await page.mouse.move(box.x + box.width - 2, box.y + box.height - 2);
    await page
      .getByRole('tooltip')
      .getByText(/failed after/)
      .waitFor();
    await page.mouse.move(box.x + 8, box.y + box.height - 2);
    await page
      .getByRole('tooltip')
      .getByText(/succeeded in/)
      .waitFor();
    assert.match((await marks.getAttribute('aria-valuetext')) ?? '', /succeeded in/);
    await marks.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/data\/nightly-backup\/runs\/nightly-backup-\d+$/);
  });
});
