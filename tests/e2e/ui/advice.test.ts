import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { whyNoBrowser } from './fixtures/browser.ts';
import { useJourneys } from './fixtures/journeys.ts';

describe('advice', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, go, seen } = useJourneys();

  journey('leads from any page by g v to a finding, its patch and the field that it is about', async (page) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await go(page, '/');
    await page.getByRole('link', { name: /^Advice/ }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('v');
    await page.waitForURL(/\/advice$/);
    await seen(page, '2 findings to mend');
    await seen(page, 'critical each Monday; 4 alerts in 30 days');
    await page.getByRole('button', { name: 'Copy patch' }).first().press('Enter');
    await seen(page, 'Copied');
    const copied = (): Promise<string> => page.evaluate<string>('navigator.clipboard.readText()');
    assert.match(await copied(), /^kubectl -n data patch cronjobmonitor all/);
    await page.getByRole('button', { name: 'Leave it' }).first().press('Enter');
    await page.waitForFunction("navigator.clipboard.readText().then((text) => text.includes('advice-ignore='))");
    await page.getByRole('link', { name: 'spec.deadManSwitch.maxTimeSinceLastSuccess' }).press('Enter');
    await page.waitForURL(/part=rules#spec\.deadManSwitch/);
    await page.locator('li.asked').waitFor();
  });

  journey('is narrowed to one kind, and shows on wish what its owners leave', async (page) => {
    await go(page, '/advice');
    await page.getByRole('link', { name: 'Only these' }).first().press('Enter');
    await page.waitForURL(/kind=DeadManShorterThanPeriod/);
    await page.goBack();
    const asked = page.waitForRequest((request) => request.url().includes('ignored=true'));
    await page.getByRole('link', { name: '1 finding left by their owners' }).press('Enter');
    await asked;
    await seen(page, 'Show the others');
  });

  journey('a month of targets is one link from all of them, and months follow one another', async (page) => {
    await go(page, '/sla');
    await page.getByRole('link', { name: 'Report of the month' }).press('Enter');
    await seen(page, /1 of 2 targets was missed/);
    await seen(page, 'Killed at 512 Mi');
    await page.getByRole('link', { name: 'Month before' }).press('Enter');
    await page.waitForURL(/month=\d{4}-\d{2}/);
    await page.getByRole('link', { name: 'Next month' }).waitFor();
  });
});
