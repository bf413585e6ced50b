import assert from 'node:assert/strict';
import { describe } from 'node:test';
import type { Page } from 'playwright-core';
import { drillLink } from './fixtures/answers/index.ts';
import { sidewaysPx, whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('drills in the user interface', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go, seen } = useJourneys();
  const press = (page: Page) => page.getByRole('button', { name: 'I read this' });
  const acknowledged = () => service().asked.filter((line) => line.startsWith('POST drills/'));

  journey(
    'begins by hand, waits, is acknowledged by its link, and stands among the drills of its channel',
    async (page) => {
      await go(page, '/channels/data-chat');
      await seen(page, 'It was never drilled');
      await page.getByRole('button', { name: 'Drill', exact: true }).click();
      await seen(page, 'A drill of data-chat is on its way');
      const row = page.getByRole('row', { name: /On its way: no receiver has accepted it yet/ });
      await row.waitFor();
      await row.getByText('ana').waitFor();
      await go(page, '/channels/ops-chat');
      await seen(page, 'to be acknowledged until 15:00');
      await go(page, drillLink);
      await page.getByRole('textbox', { name: 'Your name' }).fill('eva');
      assert.deepEqual(acknowledged(), [], 'that the page was opened proves nothing');
      await press(page).click();
      await page.getByRole('status').getByText('The channel is proved').waitFor();
      await seen(page, 'by eva');
      assert.equal(acknowledged().length, 1);
      await go(page, '/channels/ops-chat');
      await seen(page, 'Acknowledged 14:03 by eva, 3 min after it was delivered');
    },
  );

  journey('tells of past drills who acknowledged, what was not read, and what was not delivered', async (page) => {
    await go(page, '/channels/ops-chat');
    await seen(page, /last proved 5 d .* ago by ana/);
    const planned = page.getByText('0 9 * * 1 Europe/Berlin, to be acknowledged within 1 h, else oncall is told');
    assert.doesNotMatch((await planned.textContent()) ?? '\n', /\n/, 'in one line');
    const table = page.getByRole('table', { name: 'Drills of ops-chat, newest first' });
    for (const name of [
      /Proved .*its schedule.*Acknowledged .* by ana <b>markup is text<\/b>, 12 min after it was delivered/,
      /Not read .*not acknowledged until/,
      /Not delivered .*No receiver accepted it in time/,
    ])
      await table.getByRole('row', { name }).waitFor();
    assert.equal(await page.locator('td b').count(), 0, 'markup in a name is text');
  });

  journey(
    'is acknowledged by keyboard alone, on a phone, in the dark',
    async (page) => {
      await page.emulateMedia({ colorScheme: 'dark' });
      await go(page, drillLink);
      const name = page.getByRole('textbox', { name: 'Your name' });
      await name.focus();
      await name.fill('');
      await page.keyboard.type('eva');
      await page.keyboard.press('Tab');
      assert.equal(await page.evaluate('document.activeElement?.textContent.trim()'), 'I read this');
      await page.keyboard.press('Enter');
      await page.getByRole('status').getByText('The channel is proved').waitFor();
      assert.equal(await sidewaysPx(page), 0);
    },
    { width: 390 },
  );

  const refusals = [
    {
      says: 'its time is over',
      answer: {
        status: 409,
        code: 'CONFLICT',
        message: 'The time of this drill is over: its channel stays unproved until the next one',
      },
      shown: /the time of this drill is over/i,
    },
    {
      says: 'its key is wrong',
      answer: { status: 404, code: 'NOT_FOUND', message: 'There is no such drill' },
      shown: /no such drill/,
    },
    {
      says: 'keys were tried',
      answer: { status: 429, code: 'RATE_LIMITED', message: 'Too many requests' },
      shown: /Too many requests/i,
    },
  ];
  for (const { says, answer, shown } of refusals)
    journey(
      `says when ${says}, keeps the name, and takes the next press`,
      async (page) => {
        await go(page, drillLink);
        service().answer('drills/019e-waiting/acknowledge', answer);
        await page.getByRole('textbox', { name: 'Your name' }).fill('eva');
        await press(page).click();
        await page.getByRole('alert').getByText(shown).waitFor();
        assert.equal(await page.getByRole('textbox', { name: 'Your name' }).inputValue(), 'eva');
        service().answer('drills/019e-waiting/acknowledge', undefined);
        await press(page).click();
        await page.getByRole('status').getByText('The channel is proved').waitFor();
        assert.equal(await page.getByRole('alert').count(), 0);
      },
      { expected: new RegExp(String(answer.status)) },
    );

  journey('is not pressed twice while the answer is awaited', async (page) => {
    await go(page, drillLink);
    await press(page).waitFor();
    service().delayMs = 400;
    await press(page).click();
    await page.keyboard.press('Enter');
    await page.getByRole('status').getByText('The channel is proved').waitFor();
    assert.equal(acknowledged().length, 1);
  });

  journey('begins once while the answer is awaited, and can be begun again', async (page) => {
    await go(page, '/channels/data-chat');
    await seen(page, 'It was never drilled');
    const begin = page.getByRole('button', { name: 'Drill', exact: true });
    service().delayMs = 400;
    await begin.click();
    await page.locator('button[aria-busy="true"]', { hasText: 'Drill' }).waitFor();
    await page.keyboard.press('Enter');
    await seen(page, 'A drill of data-chat is on its way');
    await page.locator('button[aria-busy="true"]').waitFor({ state: 'detached' });
    assert.equal(service().asked.filter((line) => /^POST .*drill/.test(line)).length, 1);
  });
});
