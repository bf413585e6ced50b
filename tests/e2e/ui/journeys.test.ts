import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Page } from 'playwright-core';
import { noLeader, overview } from './fixtures/answers/index.ts';
import { until, whyNoBrowser } from './fixtures/browser.ts';
import { pressed, useJourneys } from './fixtures/journeys.ts';
import { becomesWell, happensTo } from './fixtures/verdicts.ts';

describe('the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();
  const heading = (page: Page): Promise<string | null> => page.locator('h1').textContent();

  journey('leads from what is broken to its log in two clicks', async (page) => {
    await go(page, '/');
    await page.getByRole('link', { name: 'nightly-backup' }).first().click();
    await seen(page, 'No success for');
    assert.equal(await page.locator('h1').textContent(), 'nightly-backup');
    assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1');
    await page.getByRole('link', { name: 'Open the run' }).click();
    await seen(page, /^Run failed .* ago: exit code 137, OOMKilled/);
    await seen(page, 'Raise the memory limit of container backup');
    await page.locator('.log').getByText('Killed').waitFor();
    assert.match(await page.title(), /^\(3 critical\) Run of 2026-11-21 02:00/);
    await page.goBack();
    await page.goBack();
    await seen(page, 'Incidents');
  });

  journey('leaves a list that is narrowed from a row that has the focus, without a complaint', async (page) => {
    await go(page, '/cronjobs?state=critical,warning');
    await page.locator('main a[data-row-link]').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cronjobs\/[^/]+\/[^/]+$/);
    await seen(page, 'Last runs');
  });

  journey(
    'says of a CronJob or a monitor that does not exist just that, without parts of it',
    async (page) => {
      for (const path of ['/cronjobs/data/nope', '/monitors/none/nope']) {
        await go(page, path);
        await seen(page, /Nothing is at|No CronJobMonitor is named/);
        assert.equal(await page.getByRole('navigation', { name: 'Parts of nope' }).count(), 0);
      }
    },
    { expected: /404/ },
  );

  journey(
    'leads from the count of CronJobs whose failures reach no channel to each of them, with the reason',
    async (page) => {
      await go(page, '/');
      const link = page.getByRole('link', { name: /^4 of \d+ CronJobs can fail in a way that reaches no channel$/ });
      const counted = (await link.textContent()) ?? '';
      await link.focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/coverage\?state=unwatched/);
      await page.getByRole('heading', { name: counted, exact: true }).waitFor();
      const row = page.getByRole('row', { name: /forgotten-export/ });
      assert.match((await row.textContent()) ?? '', /Unwatched.*No monitor selects it/);
      assert.equal(await row.getByRole('link').count(), 0, 'there is no page of it');
      await seen(page, 'missed run: no channel takes this severity');
      assert.equal(await page.getByText('Reached', { exact: true }).count(), 0);
      await page.getByRole('columnheader', { name: 'CronJob' }).getByRole('button').click();
      await page.waitForURL(/sort=name/);
      const byState = { nobody: 3, unwatched: 0, off: 0, unreachable: 0, unproved: 0, reached: 0 };
      const coverage = { cronJobs: 3, covered: 0, percent: 0, unnamed: 0, ignored: 0, byState };
      service().answer('overview', { value: { ...overview(service().fleet), coverage } });
      await go(page, '/');
      await seen(page, 'All CronJobs are watched. No channel is told: set defaultMonitor.channels');
    },
  );

  journey(
    'reads cause, since when and the next step of what is broken on the first page, without a click',
    async (page) => {
      const backup = service().fleet.find(({ item }) => item.name === 'nightly-backup');
      assert.ok(backup);
      const command = 'kubectl -n data patch cronjob nightly-backup --type strategic -p ...';
      const step = { action: 'copyPatch', words: 'Raise its memory limit to 1 Gi', command, href: null } as const;
      Object.assign(backup.item, {
        verdict: { ...backup.item.verdict, cause: 'Killed at 512 Mi in 3 attempts', step },
      });
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await go(page, '/');
      await page.getByRole('heading', { name: /^3 critical: [a-z-]+, [a-z-]+ and 1 more/ }).waitFor();
      const row = page.getByRole('listitem').filter({ hasText: 'nightly-backup' }).first();
      await row.getByText('Killed at 512 Mi in 3 attempts. Raise its memory limit to 1 Gi').waitFor();
      await row.getByText('since 35 h').waitFor();
      await row.getByText('ops-chat').waitFor();
      // A row that is folded may cut its line: the tooltip has all of it.
      const folded = page.locator('li[data-row]:not(.open) .says').first();
      const says = (await folded.textContent()) ?? '';
      assert.ok(says !== '' && (await folded.getAttribute('data-tip'))?.startsWith(`${says}.`));
      // The keyboard alone: past the row above to this one, and from there to its step.
      await page.keyboard.press('j');
      await page.keyboard.press('j');
      assert.equal(await page.evaluate('document.activeElement.textContent'), 'nightly-backup');
      const copy = row.getByRole('button', { name: 'Copy patch of data/nightly-backup' });
      await copy.press('Enter');
      await seen(page, 'Copied');
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), command);
      const missed = page.getByRole('listitem').filter({ hasText: 'price-sync' }).first();
      await missed.getByRole('link', { name: 'Open the run of prod/price-sync' }).click();
      await page.waitForURL(/\/cronjobs\/prod\/price-sync\/runs\//);
    },
  );

  journey('opens a row by a click anywhere on it, and unfolds it by Space', async (page) => {
    await go(page, '/');
    const failing = page.getByRole('list', { name: 'CronJobs that fail without an open alert' });
    const row = failing.getByRole('listitem').filter({ hasText: 'price-sync' });
    const heightPx = async (): Promise<number> => (await row.boundingBox())?.height ?? 0;
    const [folded, link] = [await heightPx(), row.getByRole('link', { name: 'price-sync', exact: true })];
    await link.focus();
    await page.keyboard.press(' ');
    await page.keyboard.press(' ');
    assert.ok((await heightPx()) > folded, 'what is unfolded is higher');
    await row.click({ position: { x: 200, y: 8 } });
    await page.waitForURL(/\/cronjobs\/prod\/price-sync$/);
  });

  journey('has what is broken, what comes and how the service is on one screen', async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await go(page, '/');
    await seen(page, 'No success for');
    await seen(page, /ready$/);
    await until(page, 'document.documentElement.scrollHeight <= innerHeight');
    const critical = page.getByRole('list', { name: 'CronJobs with open alerts, worst first' }).getByRole('listitem');
    assert.equal(await critical.first().getByText('Critical', { exact: true }).count(), 1);
  });

  journey('says which runs to come may end badly, why, and who hears, without a click', async (page) => {
    await go(page, '/');
    const card = page.getByRole('region', { name: /^Today until 22:00: / });
    const first = card.getByRole('listitem').first();
    assert.match(
      await first.innerText(),
      /Failed the last 2 runs: OOMKilled at 512 Mi; nothing changed since\. team-chat hears it/,
    );
    assert.equal(await first.getByText('Likely:').count(), 1);
    await seen(page, /\d+ runs? without a finding\. 30 nights: 41 of 46 foreseen, 6 false$/);
    const starts = card.getByRole('slider', { name: 'Starts by 15 min' });
    await starts.focus();
    await page.keyboard.press('Home');
    assert.equal(await starts.getAttribute('aria-valuetext'), 'none starts at 14:00');
    await first.getByRole('link').click();
    await page.waitForURL(/\/cronjobs\//);
  });

  journey('shows text of strangers as text', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440');
    await page.getByText('<script>alert("markup is text")</script>').waitFor();
    await page.getByText('␛[31mERROR␛[0m').waitFor();
    await page.getByText('⟨U+202E⟩').waitFor();
  });

  journey('keeps filters and order in the address, through reload and back', async (page) => {
    await go(page, '/cronjobs');
    await page.getByRole('button', { name: /^Critical/ }).click();
    await page.waitForURL(/state=critical/);
    await seen(page, '3 CronJobs match');
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await page.waitForURL(/sort=name/);
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('back');
    await page.waitForURL(/q=back/);
    await seen(page, '1 CronJob match');
    await page.reload();
    await seen(page, '1 CronJob match');
    assert.equal(await page.getByRole('searchbox', { name: 'Name contains' }).inputValue(), 'back');
    assert.equal(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort'), 'ascending');
    await page.goBack();
    await page.goBack();
    await seen(page, '42 CronJobs');
  });

  journey('chooses namespaces with the keyboard alone', async (page) => {
    await go(page, '/cronjobs');
    await seen(page, 'nightly-backup');
    const opener = page.getByRole('button', { name: 'Namespace all' });
    await opener.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('textbox', { name: 'Find Namespace' }).fill('data');
    await page.keyboard.press('Enter');
    await page.waitForURL(/ns=data/);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Namespace data');
  });

  journey('goes every way of the first night by the keys alone', async (page) => {
    /** Tab, until what has the focus is called so. */
    const tabTo = async (name: RegExp): Promise<void> => {
      for (let tabs = 0; tabs < 150; tabs++) {
        await page.keyboard.press('Tab');
        const told =
          'document.activeElement.ariaLabel ?? (document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()';
        if (name.test(await page.evaluate<string>(told))) return;
      }
      assert.fail(`nothing that Tab reaches is called ${name}`);
    };
    const enter = async (path: string, ready: string | RegExp, name: RegExp): Promise<void> => {
      await go(page, path);
      await seen(page, ready);
      await tabTo(name);
      await page.keyboard.press('Enter');
    };
    await page.addInitScript({ content: 'window.print = () => { window.printed = true; }' });
    await enter('/', 'Killed', /^L102 of the log of nightly-backup-/);
    await page.waitForURL(/\/runs\/nightly-backup-\d+.*#decisive$/);
    await page.locator('.log .marked').waitFor();
    await enter('/cronjobs/data/nightly-backup', 'Last runs', /^If it failed now, data-chat hears/);
    await page.locator('#who-hears').getByText('Silenced until').waitFor();
    await enter('/cronjobs/data/nightly-backup', 'Last runs', /^Trigger$/);
    await seen(page, /Started nightly-backup-manual-/);
    await tabTo(/expected runs: /);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/runs\/nightly-backup-\d+$/);
    await go(page, '/cronjobs/data/nightly-backup?part=runs');
    await seen(page, 'in 30 days');
    await tabTo(/^Find in all logs$/);
    await page.keyboard.type('heap');
    await page.locator('main mark').getByText('heap').first().waitFor();
    await enter('/sla', '52 of 57', /^Print$/);
    await until(page, 'window.printed === true');
    await enter('/channels/ops-chat', 'As it is sent', /^Test$/);
    await seen(page, 'ops-chat: Accepted');
    assert.equal((await pressed(page)).clicks, 0);
  });

  journey('keeps what is typed before the palette is there, and begins with the pages of the rail', async (page) => {
    await page.route(/SearchPalette.*\.js/, async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 500));
      await route.continue();
    });
    await go(page, '/');
    await seen(page, 'No success for');
    await page.keyboard.type('/click');
    await page.getByRole('option', { name: 'data/clickstream-rollup' }).waitFor();
    const field = page.getByRole('combobox', { name: 'Search' });
    assert.equal(await field.inputValue(), 'click');
    await field.fill('');
    await page.getByText('Actions', { exact: true }).waitFor();
    const names = await page.getByRole('option').locator('.name').allTextContents();
    assert.deepEqual(names.slice(0, 5), ['Dashboard', 'CronJobs', 'Alerts', 'Wall', 'SLA']);
  });

  journey('finds any CronJob by the palette', async (page) => {
    await go(page, '/settings');
    await seen(page, 'Healthy');
    await page.keyboard.press('/');
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.fill('no such name');
    await page.getByText(/Nothing matches "no such name"\. Type a part of a name; a verb and a name/).waitFor();
    await field.fill('back');
    await page.getByRole('option', { name: /data\/nightly-backup/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cronjobs\/data\/nightly-backup$/);
    await seen(page, 'No success for');
  });

  journey('acknowledges and silences from the palette, as the line at its foot says', async (page) => {
    await go(page, '/channels');
    await seen(page, 'ops-chat');
    const type = async (typed: string, does: RegExp): Promise<void> => {
      await page.keyboard.press('/');
      await page.getByRole('combobox', { name: 'Search' }).fill(typed);
      await page.getByRole('dialog').getByText(does).waitFor();
      await page.keyboard.press('Enter');
    };
    await type('ack nightly', /acknowledge \d+ alerts? of data\/nightly-backup$/);
    await seen(page, 'Acknowledged data/nightly-backup');
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, 'Taken back for data/nightly-backup');
    await type('silence nightly', /choose for how long data\/nightly-backup is silenced$/);
    await page.getByRole('dialog', { name: 'Silence data/nightly-backup' }).waitFor();
    await page.keyboard.press('Enter');
    await seen(page, /^Silenced data\/nightly-backup until /);
    assert.match(page.url(), /\/channels$/);
  });

  journey('lists CronJobs in the palette by what is wrong with them', async (page) => {
    await go(page, '/settings');
    await seen(page, 'Healthy');
    await page.keyboard.press('/');
    await page.getByRole('combobox', { name: 'Search' }).fill('late');
    await page.getByText('CronJobs: late').waitFor();
    await page.getByRole('option', { name: /data\/nightly-backup/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/cronjobs\/[a-z-]+\/[a-z-]+$/);
  });

  journey('goes to pages and rows by single keys, and leaves them alone while a field has the focus', async (page) => {
    await go(page, '/');
    await seen(page, 'No success for');
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'nightly-backup');
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.waitForURL(/\/cronjobs$/);
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('');
    await page.getByRole('searchbox', { name: 'Name contains' }).press('g');
    await page.keyboard.press('d');
    assert.match(page.url(), /cronjobs/);
    await page.locator('h1').click();
    await page.keyboard.press('Escape');
    await page.evaluate('document.activeElement.blur()');
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
  });

  journey('suspends, and undoes it', async (page) => {
    await go(page, '/cronjobs/billing/ledger-close');
    await page.getByRole('button', { name: 'Suspend', exact: true }).click();
    await page.getByRole('dialog').getByText('this run will not happen').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
    await seen(page, 'Suspended billing/ledger-close');
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, 'Resumed billing/ledger-close');
    assert.ok(service().asked.includes('POST cronjobs/billing/ledger-close/resume'));
  });

  journey(
    'tells in the dialog why something could not be done, and names the object',
    async (page) => {
      service().answer('cronjobs/prod/etl-orders/suspend', {
        status: 403,
        code: 'FORBIDDEN',
        message: 'You may not patch cronjobs in prod',
      });
      await go(page, '/cronjobs/prod/etl-orders');
      await page.getByRole('button', { name: 'Suspend', exact: true }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
      await seen(page, 'Could not suspend prod/etl-orders: you may not patch cronjobs in prod');
    },
    { expected: /403/ },
  );

  journey('shows what is missing for a button that cannot be used', async (page) => {
    const { whoami } = await import('./fixtures/answers/index.ts');
    const mayRead = whoami({ mode: 'proxy', authenticated: true, user: { name: 'ana', groups: [] } });
    service().answer('whoami', {
      value: { ...mayRead, can: { ...mayRead.can, trigger: false, deleteHistory: false } },
    });
    await go(page, '/cronjobs/data/nightly-backup');
    const trigger = page.getByRole('button', { name: /^Trigger \(/ });
    await trigger.and(page.locator('[aria-disabled="true"]')).waitFor();
    await trigger.focus();
    await page.getByRole('tooltip').getByText('Needs create jobs in data').waitFor();
    await trigger.click({ force: true });
    assert.equal(await page.getByRole('dialog').count(), 0);
    await seen(page, 'ana, by proxy');
    assert.equal(await page.getByText('Authentication is off').count(), 0);
  });

  journey('deletes history only after the name is typed', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup?part=rules');
    await page.getByRole('button', { name: 'Delete history' }).click();
    const dialog = page.getByRole('dialog');
    const remove = dialog.getByRole('button', { name: /^Delete history/ });
    await remove.click({ force: true });
    assert.ok(!service().asked.some((line) => line.startsWith('DELETE')));
    await dialog.getByRole('textbox').fill('nightly-backup');
    await remove.click();
    await seen(page, 'Deleted 30 runs of data/nightly-backup');
  });

  journey('prunes only after a dry run of the same inputs', async (page) => {
    await go(page, '/settings');
    await page.getByRole('button', { name: 'Dry run', exact: true }).click();
    await seen(page, 'Would delete 410 runs');
    await page.getByRole('spinbutton').fill('31');
    await page
      .getByRole('button', { name: /^Delete/ })
      .and(page.locator('[aria-disabled="true"]'))
      .waitFor();
    await page.getByRole('spinbutton').fill('30');
    await page.getByRole('button', { name: /^Delete/ }).click();
    await page.getByRole('dialog').getByText('410 runs').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await seen(page, /^Deleted 410 runs/);
  });

  journey('asks for nothing while nothing changes, and less than once in two seconds when much does', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    await seen(page, 'Live');
    await page.waitForTimeout(2_500);
    const before = service().asked.length;
    await page.waitForTimeout(4_000);
    assert.deepEqual(service().asked.slice(before), []);
    const beganMs = performance.now();
    for (let change = 0; change < 40; change++) {
      service().say('cronjob', { namespace: 'data', name: 'nightly-backup', status: 'critical' });
      await page.waitForTimeout(100);
    }
    const tookSeconds = (performance.now() - beganMs) / 1_000; // four, and more on a machine that has much to do
    const details = service()
      .asked.slice(before)
      .filter((line) => line.startsWith('GET cronjobs/data/nightly-backup?'));
    assert.ok(details.length >= 2 && details.length <= tookSeconds / 2 + 2, details.join());
  });

  journey(
    'keeps what it had when the service goes away, says so once, and comes back by itself',
    async (page) => {
      await go(page, '/');
      await seen(page, 'No success for');
      service().isUp = false;
      service().say('resync', { reason: 'tooManyChanges' });
      await seen(page, /Not connected, shown as of/);
      await seen(page, 'No success for');
      assert.equal(await page.getByRole('alert').count(), 0);
      service().isUp = true;
      await page.getByRole('button', { name: 'Try now' }).click();
      await page
        .getByText(/Not connected, shown as of/)
        .first()
        .waitFor({ state: 'detached' });
    },
    { expected: /ERR_|Failed to load/ },
  );

  journey(
    'says why the first page could not be read, with the sentence, the code and the request id, and shows it as soon as it can',
    async (page) => {
      service().answer('overview', {
        status: 503,
        code: 'DATABASE_UNAVAILABLE',
        message: 'The database did not answer within 10 s',
      });
      await go(page, '/');
      const card = page.getByRole('alert');
      await card.getByText('The database did not answer within 10 s').waitFor();
      await card.getByText('DATABASE_UNAVAILABLE').waitFor();
      await card.getByText('q7Zk3mXv9aTb').waitFor();
      service().answer('overview', undefined);
      await card.getByRole('button', { name: 'Try now' }).click();
      await seen(page, 'No success for');
      await seen(page, /^Today until 22:00: \d+ CronJobs run, \d+ are at risk$/);
    },
    { expected: /503/ },
  );

  journey('says on every page that no controller leads, and never that all is fine', async (page) => {
    for (const { item } of service().fleet) becomesWell(item);
    service().answer('health', { value: noLeader });
    const headline = '42 CronJobs, none fails';
    service().answer('overview', { value: { ...overview(service().fleet), headline, service: noLeader } });
    await go(page, '/');
    await seen(page, 'Nothing was evaluated since 13:58');
    await seen(page, 'No CronJob has an active alert');
    assert.equal(await page.getByText(/are fine/).count(), 0);
    await page.getByRole('navigation').getByRole('link', { name: 'CronJobs' }).click();
    await seen(page, 'Nothing was evaluated since 13:58');
  });

  journey('says that all are fine when they are', async (page) => {
    for (const { item } of service().fleet) becomesWell(item);
    await go(page, '/');
    await page.getByRole('heading', { name: 'All 42 CronJobs are fine' }).waitFor();
  });

  journey('never says that all are fine while a CronJob that is expected is not there', async (page) => {
    const { incidents } = overview(service().fleet);
    const [first] = incidents;
    const [alert] = first?.alerts ?? [];
    assert.ok(first && alert);
    for (const { item } of service().fleet) becomesWell(item);
    const gone = { ...first, cronjob: { namespace: 'prod', name: 'gone-export' }, recentRuns: [], actedOn: null };
    const headline = '42 CronJobs, none fails; 1 missing';
    const value = { ...overview(service().fleet), headline, incidents: [gone], incidentTotal: 1 };
    service().answer('overview', { value });
    await go(page, '/');
    await page.getByRole('heading', { name: headline }).waitFor();
    assert.equal(await page.getByText(/are fine/).count(), 0);
    const link = page.getByRole('listitem').getByRole('link', { name: 'gone-export' }).first();
    assert.match((await link.getAttribute('href')) ?? '', new RegExp(`^/alerts?/${encodeURIComponent(alert.id)}`));
  });

  journey('never says that all are fine while one of them is not known', async (page) => {
    for (const { item } of service().fleet) becomesWell(item);
    const [first] = service().fleet;
    assert.ok(first);
    happensTo(first.item, { lastExecution: null, lastSuccess: null });
    await go(page, '/');
    await page.getByRole('heading', { name: '42 CronJobs, none fails; 1 unknown' }).waitFor();
    assert.equal(await page.getByText(/are fine/).count(), 0);
  });

  journey('shows the first monitor where nothing is watched', async (page) => {
    service().fleet.length = 0;
    await go(page, '/');
    await seen(page, 'Nothing is watched yet');
    await seen(page, /kind: CronJobMonitor/);
  });

  journey('shows a skeleton while the answer is slow, and nothing that is not true', async (page) => {
    service().delayMs = 1_500;
    await go(page, '/cronjobs');
    await page.locator('.skeleton').first().waitFor();
    assert.equal(await page.getByText('Nothing is watched yet').count(), 0);
    await seen(page, 'nightly-backup');
  });

  journey(
    'asks for a token, and says when it was refused',
    async (page) => {
      const { whoami } = await import('./fixtures/answers/index.ts');
      service().answer('whoami', { value: whoami({ mode: 'token' }) });
      await go(page, '/');
      await seen(page, 'This service asks for a token');
      service().answer('whoami', { status: 401, code: 'UNAUTHENTICATED', message: 'The token was rejected' });
      await page.getByLabel('Token', { exact: true }).fill('wrong');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await seen(page, 'The token was refused or has expired.');
      service().answer('whoami', {
        value: whoami({ mode: 'token', authenticated: true, user: { name: 'ana', groups: [] } }),
      });
      await page.getByLabel('Token', { exact: true }).fill('right');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await seen(page, 'No success for');
    },
    { expected: /401/ },
  );

  journey('changes its theme at once, and has it before the first paint afterwards', async (page) => {
    await go(page, '/');
    await page.getByRole('button', { name: 'Theme' }).click();
    await page.getByRole('menuitemradio', { name: 'Dark' }).click();
    assert.equal(await page.evaluate('document.documentElement.dataset.theme'), 'dark');
    await page.reload({ waitUntil: 'commit' });
    await until(page, 'document.documentElement?.dataset.theme === "dark"');
  });

  journey('moves along the strip with arrows, naming each run', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    const strip = page.getByRole('slider', { name: /expected runs/ });
    await strip.focus();
    await page.keyboard.press('ArrowLeft');
    assert.match((await strip.getAttribute('aria-valuetext')) ?? '', /^Sat 02:00, failed after 19 min/);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.match((await strip.getAttribute('aria-valuetext')) ?? '', /^Thu 02:00, succeeded in/);
    await page.keyboard.press('End');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/runs\/nightly-backup-29920440$/);
  });

  journey(
    'has everything of the rail in the menu of a phone',
    async (page) => {
      await go(page, '/');
      await page.getByRole('button', { name: 'More' }).click();
      await page.getByRole('dialog').getByRole('link', { name: 'Silences' }).click();
      await page.waitForURL(/\/silences$/);
      await page.getByRole('dialog').waitFor({ state: 'detached' });
      assert.equal(await heading(page), 'Silences');
    },
    { width: 390 },
  );

  journey(
    'goes back to where a list was scrolled',
    async (page) => {
      await go(page, '/cronjobs');
      await seen(page, 'nightly-backup');
      await page.evaluate('scrollTo(0, 8000)');
      await page.waitForTimeout(500);
      const link = page.locator('main [data-row-link]').nth(20);
      await link.click();
      await page.waitForURL(/\/cronjobs\/.+\/.+/);
      await seen(page, 'Usual duration');
      await page.goBack();
      await until(page, 'Math.abs(scrollY - 8000) < 50');
      await page.locator('main [data-row-link]').first().waitFor();
    },
    { extra: 500 },
  );
});
