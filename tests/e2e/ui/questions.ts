import assert from 'node:assert/strict';
import { until } from './fixtures/browser.ts';
import { foundInLogs } from './fixtures/answers/index.ts';
import { happensTo } from './fixtures/verdicts.ts';
import { pasted, pressed, useJourneys } from './fixtures/journeys.ts';

/** What an engineer on call asks the pages, each answered within as many clicks as ui-second.md 13 allows, in one browser. */
export function walkQuestions(engine: 'chromium' | 'firefox'): void {
  const { journey, service, go, seen } = useJourneys(engine);

  journey('what is broken, why, and what next: read without a click, and in the shell after one', async (page) => {
    const backup = service().fleet.find(({ item }) => item.name === 'nightly-backup');
    assert.ok(backup);
    const command = 'kubectl -n data patch cronjob nightly-backup --type strategic -p ...';
    const step = { action: 'copyPatch', words: 'Raise its memory limit to 1 Gi', command, href: null } as const;
    const verdict = { ...backup.item.verdict, cause: 'Killed at 512 Mi in 3 attempts', step };
    Object.assign(backup.item, { verdict });
    await go(page, '/');
    await page.getByRole('heading', { name: /^3 critical: [a-z-]+, [a-z-]+ and 1 more/ }).waitFor();
    const row = page.getByRole('listitem').filter({ hasText: 'nightly-backup' }).first();
    await row.getByText('Killed at 512 Mi in 3 attempts. Raise its memory limit to 1 Gi').waitFor();
    await row.getByText('Killed', { exact: true }).waitFor();
    assert.deepEqual(await pressed(page), { clicks: 0, keys: 0 });
    await row.getByRole('button', { name: 'Copy patch of data/nightly-backup' }).click();
    await seen(page, 'Copied');
    assert.equal((await pressed(page)).clicks, 1);
    assert.equal(await pasted(page), command);
  });

  journey('the line that says why, in its log, and what changed since: one click from the first page', async (page) => {
    await go(page, '/');
    const row = page.locator('[data-row="data/nightly-backup"]');
    await row.getByRole('link', { name: /^L102 of the log of nightly-backup-/ }).click();
    await page.waitForURL(/runs\/nightly-backup-\d+\?pod=nightly-backup-\d+-x7kqm&container=backup#decisive$/);
    const line = page.locator('.log .marked');
    await line.getByText('Killed', { exact: true }).waitFor();
    await line.getByText('Last line that speaks of an error, seen first on 19 Nov').waitFor();
    assert.equal(await line.getByRole('button', { name: 'Link to line 102' }).isVisible(), true);
    const changed = page.locator('#compare table').getByRole('row').nth(1);
    assert.match((await changed.textContent()) ?? '', /Image.*backup:1\.9\.0.*backup:1\.8\.2/);
    assert.equal((await pressed(page)).clicks, 1);
  });

  journey('will tonight go well: the risks with their reasons, without a click', async (page) => {
    await go(page, '/');
    const card = page.getByRole('region', { name: /^(Today|Tonight) until \d\d:\d\d: / });
    await card
      .getByRole('listitem')
      .first()
      .getByText(/OOMKilled at 512 Mi; nothing changed since/)
      .waitFor();
    assert.deepEqual(await pressed(page), { clicks: 0, keys: 0 });
  });

  journey('who hears if it fails: every step and the message itself, after one click', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    const glance = page.getByRole('complementary', { name: 'At a glance' });
    await glance.getByRole('link', { name: /^If it failed now, data-chat hears at / }).click();
    const tracer = page.locator('#who-hears');
    await tracer.getByText('Silenced until').waitFor();
    await tracer.getByText(/^data-chat hears at .*: an example of what data-chat gets$/).waitFor();
    assert.equal((await pressed(page)).clicks, 1);
  });

  journey('why was no channel told: chip, Told and timeline say the same, after one click', async (page) => {
    const [silence] = service().alerting.silences;
    assert.ok(silence);
    const matcher = { ...silence.matcher, namespaces: ['data'], cronjobs: ['nightly-backup'] };
    const endsAt = '2026-11-21T18:03:00.000Z';
    service().alerting.silences.unshift({ ...silence, id: '019d-new', matcher, createdBy: 'jonas', endsAt });
    await go(page, '/alerts');
    const row = page.locator('main [data-row="data/nightly-backup"]');
    const said = row.locator('[data-alert]').first().getByText('Silenced by jonas until 18:03');
    await said.first().waitFor();
    await row.getByRole('link', { name: /^No success for/ }).click();
    await page.waitForURL(/\/alerts\/019b/);
    await page.getByRole('heading', { name: 'Timeline' }).waitFor();
    await seen(page, 'Silenced by jonas until 18:03');
    await seen(page, 'Told ops-chat');
    assert.equal((await pressed(page)).clicks, 1);
  });

  journey(
    'what is that red cell: its readout under the pointer and the keys, its run after one click',
    async (page) => {
      await go(page, '/timeline');
      await page.waitForURL(/\/wall$/);
      const readout = page.locator('.readout');
      await page.getByRole('grid').focus();
      for (const key of ['ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
      await readout.getByText('data/nightly-backup').waitFor();
      const said = await page.getByRole('gridcell').textContent();
      assert.match(said ?? '', /^2026-11-\d\d \d\d:\d0, 30 min: /);
      const lane = page.locator('[data-line="1"] .lane');
      const [, x = '0'] = /^M([\d.]+)/.exec((await lane.locator('path.cross').getAttribute('d')) ?? '') ?? [];
      const box = await lane.boundingBox();
      assert.ok(box);
      await page.mouse.move(box.x + Number(x) + 2, box.y + box.height / 2);
      await readout.getByText(/^1 run failed: exit code 137, OOMKilled after/).waitFor();
      await page.mouse.down();
      await page.mouse.up();
      await page.waitForURL(/\/cronjobs\/data\/nightly-backup\/runs\//);
      assert.equal((await pressed(page)).clicks, 1);
    },
  );

  journey('a limit that fits: dragged until nothing false is left, and copied by two clicks', async (page) => {
    await go(page, '/monitors/billing/all?part=rules');
    await seen(page, /^These rules raise 2 alerts in 30 days/);
    const limit = page.getByRole('slider', { name: 'Takes at most' });
    const thumb = await limit.boundingBox();
    assert.ok(thumb);
    const share = Number(await limit.inputValue()) / Number(await limit.getAttribute('max'));
    const y = thumb.y + thumb.height / 2;
    await page.mouse.move(thumb.x + 8 + share * (thumb.width - 16), y);
    await page.mouse.down();
    await page.mouse.move(thumb.x + thumb.width * 0.85, y, { steps: 4 });
    await page.mouse.up();
    const dragged = (await limit.getAttribute('aria-valuetext')) ?? '';
    assert.notEqual(dragged, '25 min');
    await seen(page, 'was 25 min');
    await seen(page, /^now \d/);
    const before = (await pressed(page)).clicks;
    await page.getByRole('button', { name: 'kubectl patch' }).click();
    await page.getByRole('button', { name: 'Copy', exact: true }).click();
    await seen(page, 'Copied');
    assert.equal((await pressed(page)).clicks - before, 2);
    assert.match(await pasted(page), /^kubectl -n billing patch cronjobmonitor all/);
  });

  journey('a text in 30 days of logs: one click, the word, and hits while the search still goes on', async (page) => {
    const rest = Promise.withResolvers<void>();
    const made = async (query: URLSearchParams): Promise<unknown> => {
      if (query.has('cursor')) await rest.promise;
      // One CronJob has too few runs to be looked through in more than one answer.
      query.delete('cronjob');
      return foundInLogs(service().fleet, query);
    };
    service().answer('logs/search', { made });
    await go(page, '/cronjobs/data/nightly-backup?part=runs');
    await page.getByRole('searchbox', { name: 'Find in all logs' }).click();
    await page.keyboard.type('heap');
    await page.locator('main mark').getByText('heap').first().waitFor();
    await seen(page, /^Searching, back to .+ so far$/);
    rest.resolve();
    await seen(page, 'Searched all of 30 days.');
    assert.equal((await pressed(page)).clicks, 1);
  });

  journey('what is left of the budgets: by margin after one click, on paper after two more', async (page) => {
    await page.addInitScript({ content: 'window.print = () => { window.printed = true; }' });
    await go(page, '/');
    await page.getByRole('navigation').getByRole('link', { name: 'SLA' }).first().click();
    await page.waitForURL(/\/sla$/);
    await page
      .getByRole('row')
      .nth(1)
      .getByText(/over|breaches|spent/i)
      .first()
      .waitFor();
    assert.equal((await pressed(page)).clicks, 1);
    await page.getByRole('link', { name: 'Report of the month' }).click();
    await seen(page, /1 of 2 targets was missed/);
    await page.getByRole('button', { name: 'Print' }).click();
    await until(page, 'window.printed === true');
    assert.equal((await pressed(page)).clicks, 3);
  });

  journey('does a channel work: its answer and the message that it got, after one click', async (page) => {
    await go(page, '/channels/ops-chat');
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await seen(page, 'ops-chat: Accepted');
    await page
      .getByRole('region', { name: 'As it is sent' })
      .getByText(/WARNING\]? (billing|example)\//)
      .first()
      .waitFor();
    assert.equal((await pressed(page)).clicks, 1);
  });

  // What one browser does otherwise than another: streams, text that is typed, dates, a pointer that drags.

  journey('brings a failure to the top without a reload', async (page) => {
    await go(page, '/');
    await seen(page, 'Live');
    const member = service().fleet.find(({ item }) => item.name === 'ledger-close');
    assert.ok(member);
    const alert = service().fleet[0]?.item.worstAlert;
    assert.ok(alert);
    happensTo(member.item, { worstAlert: { ...alert, limit: 3_600 } });
    service().say('cronjob', { namespace: 'billing', name: 'ledger-close', status: 'critical' });
    await page.getByRole('link', { name: 'ledger-close' }).first().waitFor();
    await seen(page, '4 critical');
    await page.waitForFunction('document.title.startsWith("(4 critical)")');
  });

  journey('acts on a CronJob from the palette, also by a name that is misspelt', async (page) => {
    await go(page, '/settings');
    await seen(page, 'Healthy');
    await page.keyboard.press('Control+k');
    const field = page.getByRole('combobox', { name: 'Search' });
    await field.fill('trigger nghtly bckp');
    await page.getByRole('option', { name: /Trigger data\/nightly-backup/ }).waitFor();
    await page
      .getByRole('dialog')
      .getByText(/trigger data\/nightly-backup/)
      .waitFor();
    await page.keyboard.press('Enter');
    await seen(page, /Started nightly-backup-manual-/);
  });

  journey('tells times in the zone that is chosen, and keeps the choice', async (page) => {
    await go(page, '/cronjobs/billing/ledger-close');
    await seen(page, /Runs at \d\d:\d\d UTC, \d\d:\d\d Europe\/Zurich/);
    await page.getByRole('button', { name: /Zone of all times/ }).click();
    await page.getByRole('menuitemradio', { name: 'Europe/Zurich (cluster)' }).click();
    await seen(page, /Runs at \d\d:\d\d Europe\/Zurich \(/);
    await page.reload();
    await seen(page, /Runs at \d\d:\d\d Europe\/Zurich \(/);
  });

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
}
