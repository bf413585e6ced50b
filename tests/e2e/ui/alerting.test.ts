import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { AlertDetail } from '@cronjob-monitor/shared/contract';
import { whoami } from './fixtures/answers/index.ts';
import { until, whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';
import { heldBy } from './fixtures/verdicts.ts';

const alertPath = '/alerts/019b-data%2Fnightly-backup';

describe('alerting in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();

  journey('says of an alert who was told, who was not and why', async (page) => {
    await go(page, '/alerts');
    await page
      .getByRole('link', { name: /^No success for \d+ h/ })
      .first()
      .click();
    await page.waitForURL(/\/alerts\/019b/);
    await seen(page, /^No success for \d+ h \(limit 25 h\)/);
    await seen(page, 'Not asked: it does not take this severity');
    await seen(page, 'Given up: it answered 400');
    await seen(page, 'Run of 02:00');
    await page.getByRole('button', { name: 'Deliveries' }).click();
    await page.waitForURL(/show=deliveries/);
    assert.equal(await page.getByText('Run of 02:00').count(), 0);
    await page.reload();
    await seen(page, 'Told ops-chat');
    assert.equal(await page.getByText('Run of 02:00').count(), 0);
    await page.goBack();
    await seen(page, 'Run of 02:00');
    await page.getByRole('link', { name: 'Open the run' }).click();
    await seen(page, /^Run failed .* ago: exit code 137, OOMKilled/);
  });

  journey('says that an alert that comes and goes ends when nothing has changed for an hour', async (page) => {
    const path = alertPath.slice(1);
    const answered = await page.request.get(`${service().url}/api/v1/${path}`);
    const detail = (await answered.json()) as AlertDetail;
    service().answer(path, { value: { ...detail, flappingUntil: '2026-11-21T14:50:00.000Z' } });
    await go(page, alertPath);
    await seen(page, 'a run succeeds and nothing has changed for an hour: not before 14:50');
    await seen(page, 'as it was found last');
  });

  journey('acknowledges with a name and a note, and takes it back', async (page) => {
    await go(page, alertPath);
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await seen(page, 'Acknowledged by anonymous');
    await page.getByRole('button', { name: 'Note' }).click();
    await page.getByRole('textbox', { name: 'Note' }).fill('on it');
    await page.getByRole('textbox', { name: 'Your name' }).fill('ana');
    await page.getByRole('dialog').getByRole('button', { name: '4 h' }).click();
    await page.keyboard.press('Tab');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await seen(page, 'Acknowledged by ana until 18:03');
    assert.equal(service().alerting.acknowledgements.get('019b-data/nightly-backup')?.note, 'on it');
    await page.getByRole('button', { name: 'Take back' }).click();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, 'Acknowledged by ana until 18:03');
    await page.keyboard.press('a');
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Acknowledge' }).click();
    await page.getByRole('button', { name: 'Note' }).click();
    assert.equal(await page.getByRole('textbox', { name: 'Your name' }).inputValue(), 'ana', 'the name is remembered');
  });

  journey('lists each alert of an open row with its own Told, and opens a row by its count', async (page) => {
    await go(page, '/alerts');
    const first = page
      .locator('main li[data-row]')
      .filter({ has: page.locator('[aria-expanded="true"]') })
      .first();
    await first.getByRole('list', { name: /^Alerts of / }).waitFor();
    const folded = page.locator('main li[data-row="prod/price-sync"]');
    await folded.getByRole('button', { name: '1 alert of prod/price-sync' }).click();
    const line = folded.locator('[data-alert="019b-waiting"]');
    await line.getByText(/^Waits before the first message until /).waitFor();
    await line.getByRole('button', { name: /^Actions of / }).click();
    await page.getByRole('menuitem', { name: 'Acknowledge' }).click();
    await line.getByText(/^Acknowledged by anonymous/).waitFor();
    await line.click({ position: { x: 2, y: 2 } });
    await page.waitForURL(/\/alerts\/019b-waiting$/);
  });

  journey('says of each count what it counts', async (page) => {
    await go(page, '/alerts');
    const views = page.getByRole('navigation', { name: 'Views of alerts' });
    const counted = async (name: string, what: RegExp): Promise<number> => {
      const text = await views.getByRole('link', { name }).textContent();
      return Number(what.exec(text ?? '')?.[1] ?? assert.fail(`${name}: ${text}`));
    };
    await page.getByRole('region', { name: 'Open' }).waitFor();
    const all = await counted('Now', /(\d+) CronJobs/);
    await counted('History', /(\d+) alerts?/);
    const notes = await page.locator('main section > header .note').allTextContents();
    const groups = notes.filter((note) => note.includes('CronJob'));
    const cronJobs = groups.map((note) => Number.parseInt(note, 10));
    assert.equal(
      cronJobs.reduce((sum, count) => sum + count, 0),
      all,
      groups.join(),
    );
    assert.match(groups[0] ?? '', /^\d+ CronJobs with \d+ alerts$/);
  });

  journey('narrows incidents by what one alert of them is, and says when none is like that', async (page) => {
    await go(page, '/alerts?acknowledged=yes');
    const open = page.getByRole('list', { name: 'Open, worst first' });
    await open.locator('[data-alert="019b-held"]').waitFor();
    assert.equal(await page.locator('main li[data-row]').count(), 1);
    await page.getByRole('button', { name: 'More filters, 1 in force' }).click();
    await page.getByRole('checkbox', { name: 'failing' }).click();
    await page.waitForURL(/state=failing/);
    await page.keyboard.press('Escape');
    await seen(page, 'No alert matches');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL(/\/alerts$/);
    await page.getByRole('list', { name: 'Failing, worst first' }).waitFor();
  });

  journey('lists the newest of history under the incidents, and all of it by itself', async (page) => {
    await go(page, '/alerts');
    const ended = page.getByRole('table', { name: 'Alerts that have ended' });
    await ended.getByText('Resolved').first().waitFor();
    await page.getByRole('link', { name: /^History/ }).click();
    await page.waitForURL(/\?view=history$/);
    await page.getByRole('list', { name: 'Open, worst first' }).waitFor({ state: 'detached' });
    await ended.waitFor();
  });

  journey('leaves what it asks about an alert behind with the page', async (page) => {
    await go(page, '/alerts');
    await page
      .getByRole('link', { name: /No success for/ })
      .first()
      .click();
    await page.getByRole('button', { name: 'Silence' }).click();
    await page.getByRole('dialog').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Alerts' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
    assert.equal(await page.getByRole('dialog').count(), 0, 'it does not ask again by itself');
  });

  journey('forgets what was typed into a list of choices when the list closes', async (page) => {
    await go(page, '/alerts');
    const open = page.getByRole('button', { name: /^Namespace/ });
    const find = page.getByRole('textbox', { name: 'Find Namespace' });
    await open.click();
    await find.fill('dat');
    await page.keyboard.press('Escape');
    await find.waitFor({ state: 'detached' });
    await open.click();
    assert.equal(await find.inputValue(), '');
  });

  journey('silences an alert with an end, says what it holds, and ends it early', async (page) => {
    await go(page, alertPath);
    await page.getByRole('button', { name: 'Silence', exact: true }).click();
    await page
      .getByRole('dialog', { name: 'Silence data/nightly-backup' })
      .getByRole('link', { name: 'More choices' })
      .click();
    await page.waitForURL(/silences\?form=new&ns=data&cronjob=nightly-backup&type=deadManTriggered/);
    await seen(page, 'would hold 1 alert now');
    const keep = page.getByRole('button', { name: /^Silence/ });
    await page.getByRole('textbox', { name: 'Comment' }).fill('storage move');
    await page.getByRole('button', { name: '1 h' }).click();
    await seen(page, 'Ends in 1 h (2026-11-21 15:03)');
    await keep.click();
    await page.waitForURL(/\/silences$/);
    await seen(page, 'It holds 1 alert now');
    const row = page.getByRole('row', { name: /Dead-man's switch alerts of data\/nightly-backup/ });
    await row.getByText('storage move').waitFor();
    await row.getByRole('button', { name: 'End now' }).click();
    await seen(page, '1 alert that it holds is told now');
    await page.getByRole('dialog').getByRole('button', { name: 'End now' }).click();
    await row.waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Expired' }).click();
    await page.getByRole('row', { name: /Dead-man's switch alerts of data\/nightly-backup/ }).waitFor();
  });

  journey('silences from the row at once by keyboard, and takes it back', async (page) => {
    await go(page, '/alerts');
    await seen(page, 'No success for');
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    const popover = page.getByRole('dialog', { name: /^Silence [a-z]+\/[a-z-]+$/ });
    await popover.getByText(/^Holds \d+ alerts? now$/).waitFor();
    await popover.getByRole('button', { name: 'Until tomorrow 09:00' }).waitFor();
    await popover.getByRole('textbox', { name: 'Comment' }).fill('storage move');
    await popover.getByRole('button', { name: 'For 1 h' }).press('Enter');
    await seen(page, /^Silenced [a-z]+\/[a-z-]+$/);
    assert.equal(service().alerting.silences[0]?.comment, 'storage move');
    await page.getByRole('button', { name: 'Undo' }).click();
    await seen(page, /^Taken back for [a-z]+\/[a-z-]+$/);
  });

  journey('silences an alert of a CronJob from its line by keyboard', async (page) => {
    await go(page, '/cronjobs/data/nightly-backup');
    await page.getByRole('list', { name: 'Alerts of data/nightly-backup' }).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('s');
    await until(page, 'document.activeElement?.textContent.trim() === "Silence for 1 h"');
    await page.keyboard.press('Enter');
    await seen(page, /Silenced data\/nightly-backup until 15:0[34]: \d alerts? held/);
    await page.getByRole('link', { name: /^No success for/ }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/alerts\/019b/);
  });

  journey(
    'keeps what was written when the server refuses a silence',
    async (page) => {
      await go(page, '/silences?form=new&ns=prod');
      await page.getByRole('textbox', { name: 'Comment' }).fill('a long reason');
      await seen(page, /would hold \d+ alerts? now/);
      service().answer('silences', {
        status: 403,
        code: 'FORBIDDEN',
        message: 'You may not update cronjobmonitors in prod',
      });
      await page.getByRole('button', { name: 'Silence' }).click();
      await seen(page, 'Could not keep the silence: you may not update cronjobmonitors in prod');
      assert.equal(await page.getByRole('textbox', { name: 'Comment' }).inputValue(), 'a long reason');
    },
    { expected: /403/ },
  );

  journey('tests channels and tells what came of it', async (page) => {
    await go(page, '/channels');
    await page.getByRole('button', { name: 'Test ops-chat' }).click();
    await seen(page, 'ops-chat: Accepted');
    await page.getByRole('button', { name: 'Test billing-hook' }).click();
    await seen(page, 'Refused: the receiver answered 401');
    await page.getByRole('link', { name: 'billing-hook' }).click();
    service().answer('channels/billing-hook/test', {
      value: { success: false, message: '', deliveryId: 'x', category: 'noController', httpStatus: null },
    });
    await page.getByRole('button', { name: 'Test', exact: true }).click();
    await seen(page, 'No controller took it');
  });

  journey('sends again what is parked or given up, one and all', async (page) => {
    await go(page, '/channels/billing-hook');
    await page.getByRole('button', { name: 'Given up' }).click();
    await page.waitForURL(/state=dead/);
    await page.getByRole('button', { name: 'Send again' }).click();
    await seen(page, 'billing-hook: 1 message queued again');
    await seen(page, 'No message matches');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByRole('button', { name: 'Send 3 again' }).click();
    await seen(page, 'billing-hook: 2 messages queued again');
    assert.deepEqual(
      service().asked.filter((line) => line.endsWith('/redrive')),
      ['POST deliveries/d5/redrive', 'POST deliveries/d2/redrive', 'POST deliveries/d1/redrive'],
    );
  });

  journey('lists targets by their margin, the worst first, and keeps their filters', async (page) => {
    const missed = service().fleet.find(({ item }) => item.sla.success === 5 && item.sla.runs === 7);
    assert.ok(missed);
    const silence = { createdBy: 'jonas', endsAt: '2026-11-21T18:00:00.000Z' };
    Object.assign(missed.item, { verdict: heldBy(missed.item.verdict, silence) });
    await go(page, '/sla');
    const silenced = page.getByRole('row').filter({ hasText: '5 of 7' }).getByText('Silenced by jonas until 18:00');
    await silenced.first().waitFor();
    await page.getByRole('button', { name: /^At risk/ }).click();
    await page.waitForURL(/verdict=atRisk/);
    await seen(page, 'The next failure breaches');
    assert.equal(await page.getByText('71.4 %').count(), 0);
    await page.getByRole('searchbox', { name: 'Name contains' }).fill('registry');
    await page.waitForURL(/q=registry/);
    await page.reload();
    await seen(page, '27 of 28');
    assert.equal(await page.locator('tbody tr').count(), 1);
  });

  journey(
    'tries a pattern on a run, with the words of the server',
    async (page) => {
      await go(page, '/settings?part=patterns');
      await page.getByRole('textbox', { name: 'Exit code, or a range' }).fill('137');
      await page.getByRole('textbox', { name: 'What it suggests' }).fill('Raise its limit');
      await page.getByRole('textbox', { name: 'Exit code of the run' }).fill('1');
      await page.getByRole('button', { name: 'Try it' }).click();
      await seen(page, 'It does not match');
      await page.getByRole('textbox', { name: 'Exit code of the run' }).fill('137');
      await page.getByRole('button', { name: 'Try it' }).click();
      await seen(page, 'It matches');
      service().answer('patterns/test', {
        status: 400,
        code: 'INVALID_REQUEST',
        message: 'Pattern.match.logPattern: missing )',
      });
      await page.getByRole('textbox', { name: 'Log, expression' }).fill('(');
      await page.getByRole('button', { name: 'Try it' }).click();
      await seen(page, 'Could not try the pattern: pattern.match.logPattern: missing )');
    },
    { expected: /400/ },
  );

  journey('shows every action to who may not, and names the right', async (page) => {
    const all = whoami({ mode: 'token', authenticated: true, user: { name: 'ana', groups: [] } });
    const can = { ...all.can, acknowledge: false, silence: false, testChannel: false, redrive: false };
    service().answer('whoami', { value: { ...all, can } });
    await go(page, alertPath);
    await seen(page, 'Given up: it answered 400');
    const button = (name: RegExp) => page.getByRole('button', { name }).first();
    assert.match((await button(/^Acknowledge/).textContent()) ?? '', /Needs update cronjobmonitors in data/);
    assert.match((await button(/^Silence/).textContent()) ?? '', /Needs update cronjobmonitors in data/);
    assert.match((await button(/^Send again/).textContent()) ?? '', /Needs update alertchannels/);
    await button(/^Acknowledge/).click({ force: true });
    assert.equal(await page.getByRole('dialog').count(), 0);
    await go(page, '/channels');
    await page.getByRole('button', { name: /Test ops-chat/ }).click({ force: true });
    assert.ok(!service().asked.some((line) => line.startsWith('POST')));
  });

  journey('has on no page a button that does what a reader may not, and says what each would need', async (page) => {
    const all = whoami({ mode: 'token', authenticated: true, user: { name: 'vera', groups: [] } });
    const mayRead = ['read', 'readLogs', 'readMonitors', 'readChannels'];
    const can = Object.fromEntries(Object.keys(all.can).map((ability) => [ability, mayRead.includes(ability)]));
    service().answer('whoami', { value: { ...all, can } });
    const acts = /^(Trigger|Suspend|Resume|Acknowledge|Silence|New silence|Test|Drill|Send|Delete|Dry run|Try it)\b/;
    const places = [
      '/',
      'cronjobs/data/nightly-backup',
      'cronjobs/data/nightly-backup?part=rules',
      'channels/billing-hook',
    ];
    for (const path of [alertPath, ...places, 'silences', 'silences?form=new&ns=data', 'settings']) {
      await go(page, `/${path.replace(/^\//, '')}`);
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      await page.locator('main h1').waitFor();
      const buttons = page.locator('main button').filter({ hasText: acts });
      for (const button of await buttons.all()) {
        const told = `${path}: ${await button.textContent()}`;
        assert.equal(await button.getAttribute('aria-disabled'), 'true', told);
        assert.match(told, /Needs /);
      }
    }
    assert.deepEqual(
      service().asked.filter((line) => /^(?:POST|PUT|PATCH|DELETE)/.test(line)),
      [],
    );
  });

  journey(
    'says once that the database is away, keeps what it had, and is whole again without a reload',
    async (page) => {
      const away = { status: 503, code: 'STORAGE_UNAVAILABLE', message: 'The database does not answer' };
      await page.clock.install();
      await go(page, '/alerts');
      await seen(page, 'No success for');
      for (const path of ['incidents', 'alerts/history']) service().answer(path, away);
      service().say('resync', {});
      await page.clock.runFor(3_000);
      await page.getByText('The database does not answer').first().waitFor();
      await seen(page, 'No success for');
      await page.reload();
      await page.getByText('The alerts: The database does not answer').waitFor();
      assert.equal(await page.getByText('The database does not answer').count(), 1);
      for (const path of ['incidents', 'alerts/history']) service().answer(path, undefined);
      await page.clock.runFor(70_000);
      await seen(page, 'No success for');
      assert.equal(await page.getByText('The database does not answer').count(), 0);
    },
    { expected: /503/ },
  );

  journey('asks again for an alert when the stream tells of it', async (page) => {
    await go(page, alertPath);
    await seen(page, 'Given up: it answered 400');
    service().alerting.acknowledgements.set('019b-data/nightly-backup', {
      by: 'ben',
      at: '2026-11-21T14:03:00.000Z',
      note: null,
      expiresAt: null,
    });
    service().say('alert', { id: '019b-data/nightly-backup', state: 'active' });
    await seen(page, 'Acknowledged by ben');
  });

  journey('shows a new silence on every row within two seconds, and moves it under "Held back"', async (page) => {
    await go(page, '/alerts');
    const active = page.getByRole('list', { name: 'Open, worst first' });
    await active.getByText('nightly-backup').first().waitFor();
    const chip = page.getByText('Silenced by jonas until 18:03').first();
    const silence = service().alerting.silences[0];
    assert.ok(silence);
    const matcher = { ...silence.matcher, namespaces: ['data'], cronjobs: ['nightly-backup'] };
    const endsAt = '2026-11-21T18:03:00.000Z';
    const begin = performance.now();
    service().alerting.silences.unshift({ ...silence, id: '019d-new', matcher, createdBy: 'jonas', endsAt });
    service().say('silence', { id: '019d-new', state: 'active' });
    const held = page.getByRole('list', { name: 'Held back, worst first' });
    await held.getByText('nightly-backup').first().waitFor();
    await chip.waitFor();
    assert.ok(performance.now() - begin < 2_000, 'within two seconds');
    assert.equal(await active.getByText('nightly-backup').count(), 0);
    for (const path of ['/', '/cronjobs', '/cronjobs/data/nightly-backup', alertPath]) {
      await go(page, path);
      await chip.waitFor();
    }
  });

  journey('keeps the chips of a silence of next year inside their column', async (page) => {
    await page.setViewportSize({ width: 1440, height: 900 });
    const silence = { createdBy: 'jonas.of-the-platform-team@example.com', endsAt: '2027-01-05T18:00:00.000Z' };
    for (const { item } of service().fleet) Object.assign(item, { verdict: heldBy(item.verdict, silence) });
    await go(page, '/');
    await page.getByText('Silenced by jonas').first().waitFor();
    const tooWide = await page.evaluate<
      string[]
    >(`[...document.querySelectorAll('li[data-row] .what')].flatMap((column) =>
      [...column.querySelectorAll('.badge')]
        .filter((badge) => badge.getBoundingClientRect().right > column.getBoundingClientRect().right)
        .map((badge) => badge.textContent))`);
    assert.deepEqual(tooWide, []);
  });

  journey('calls nothing well that fails without an alert: in the list, the counts and the headline', async (page) => {
    await go(page, '/');
    await page.getByRole('link', { name: '1 Failing', exact: true }).waitFor();
    const failing = page.getByRole('list', { name: 'CronJobs that fail without an open alert' });
    await failing.getByRole('link', { name: 'price-sync', exact: true }).waitFor();
    await failing.getByText('Failing', { exact: true }).waitFor({ state: 'attached' });
    await page.getByText('4 of 5 channels ready, not billing-hook').waitFor();
    await go(page, '/cronjobs?state=failing');
    await seen(page, '1 CronJob match');
    await go(page, '/cronjobs/prod/price-sync');
    await seen(page, /^Last run failed .* ago: exit code 1, Error/);
    assert.equal(await page.getByText('Healthy', { exact: true }).count(), 0);
  });
});
