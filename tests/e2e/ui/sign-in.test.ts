import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import type { MonitorProcess } from '../../servers/index.ts';
import { namespace, startBench, until, type Bench } from '../../faults/harness/bench.ts';
import { putCronJob } from '../../faults/harness/objects.ts';
import { builtUi, openPage, startBrowser, whyNoBrowser } from './fixtures/browser.ts';

const serviceToken = 'token-of-the-service';
const token = 'token-of-ben';

/** The page of a service that asks for a token, in a browser. */
describe('signing in', { skip: whyNoBrowser() ?? false }, () => {
  let bench: Bench;
  let service: MonitorProcess;
  let browser: Browser;

  before(async () => {
    await builtUi();
    bench = await startBench({ controllers: false, token: serviceToken, user: { token: serviceToken } });
    bench.sim.addToken(token, { name: 'ben', groups: [] });
    bench.sim.addAccessRule(({ name }, deed) => {
      if (name !== 'ben') return undefined;
      return !('path' in deed) && deed.verb === 'list' && deed.namespace === namespace;
    });
    putCronJob(bench.sim, 'backup');
    service = await bench.prepare({ config: { 'auth.mode': 'token' } });
    await service.startReady();
    await service.untilLeading();
    await until('the CronJob is known', async () => {
      const headers = { authorization: `Bearer ${token}` };
      const answer = await fetch(`${service.api}/api/v1/cronjobs/${namespace}/backup`, { headers });
      return answer.status === 200;
    });
    browser = await startBrowser();
  });
  after(async () => {
    await browser?.close();
    await bench?.close();
  });

  test('asks for a token, refuses a wrong one, lets in with a right one, and asks again when it ends', async () => {
    await using opened = await openPage(browser);
    const { page } = opened;
    await page.goto(`${service.api}/cronjobs`);
    await page.getByText('This service asks for a token').waitFor();
    const field = page.getByLabel('Token', { exact: true });
    await field.fill('token-of-nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('The token was refused or has expired.').waitFor();

    await field.fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'backup' }).first().waitFor();
    const kept = await page.evaluate<string>(
      'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href, document.body.innerHTML])',
    );
    assert.ok(!kept.includes(token), 'the token is in the memory of the tab alone');

    bench.sim.removeToken(token);
    await service.end();
    await service.startReady(); // a process that has just begun keeps no review of the token
    await until('the token is refused', async () => {
      const headers = { authorization: `Bearer ${token}` };
      return (await fetch(`${service.api}/api/v1/stats`, { headers })).status === 401;
    });
    await page.getByRole('link', { name: 'Monitors', exact: true }).first().click();
    await page.getByText('The token was refused or has expired.').waitFor();
    assert.deepEqual(
      // The browser tells of each refusal itself, and of the moment in which the service is not there, or not ready yet.
      opened.complaints.filter((line) => !/\b(?:401|503)\b|ERR_CONNECTION_REFUSED/.test(line)),
      [],
    );
  });
});
