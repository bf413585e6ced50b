import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { health } from './fixtures/answers/index.ts';
import { whyNoBrowser } from './fixtures/browser.ts';
import { momentAt } from './fixtures/fleet.ts';
import { useJourneys } from './fixtures/journeys.ts';

/** A page, and how many requests it may make in ten minutes of a fleet where counts change every 5 s, beside the stream. */
const pages: readonly (readonly [path: string, most: number])[] = [
  ['/', 3],
  ['/cronjobs', 13],
  ['/alerts', 13],
  ['/sla', 13],
  ['/wall', 13],
  ['/cronjobs/prod/etl-orders', 2],
  ['/cronjobs/prod/etl-orders?part=runs', 2],
  ['/coverage', 13],
];

describe('an idle page of a busy fleet', { skip: whyNoBrowser() ?? false }, () => {
  const { journey, service, go } = useJourneys();
  const streamsAsked = (): number => service().asked.filter((line) => line.startsWith('GET events/stream')).length;

  /**
   * Waits in real time until the page hears its stream: while one that it has asked for is on its way, its clock stands still. Until it asks
   * for the next one its clock goes on, second by second, for that is what it waits for; a page that never asks again fails here.
   */
  async function streaming(page: Page): Promise<void> {
    const live = page.getByText('Live', { exact: true }).first();
    for (let tries = 0; tries < 60; tries++) {
      if (service().openStreams() > 0) return live.waitFor({ timeout: 20_000 });
      const asked = streamsAsked();
      await page.clock.runFor(1_000);
      for (let waits = 0; waits < 100 && streamsAsked() > asked && service().openStreams() === 0; waits++)
        await wait(20);
    }
    assert.fail('the page asked for no stream again within a minute of its own clock');
  }

  for (const [path, most] of pages) {
    journey(`${path} asks at most once a minute beside its stream, after a few soon`, async (page) => {
      await page.clock.install();
      await go(page, path);
      await page.locator('h1').waitFor();
      await page.clock.runFor(3_000);
      const busy = service().fleet.find(({ item }) => item.name === 'etl-orders');
      assert.ok(busy);
      // The clusters are asked for once the page has nothing better to do: the last request of a first visit.
      while (!service().asked.includes('GET clusters')) await wait(50);
      const before = service().asked.length;
      for (let second = 0; second < 600; second += 5) {
        await streaming(page);
        Object.assign(busy.item, { runningJobs: (busy.item.runningJobs + 1) % 3 });
        const { namespace, name, status, verdict, suspended, runningJobs, activeAlerts } = busy.item;
        const { state } = verdict;
        service().say('cronjob', {
          namespace,
          name,
          status,
          state,
          suspended,
          runningJobs,
          activeAlerts,
          deleted: false,
        });
        await page.clock.runFor(5_000);
      }
      const all = service().asked.slice(before);
      const asked = all.filter((line) => !line.startsWith('GET events/stream'));
      // A stream that is opened anew may have missed something: the page asks once more for what it shows, the health, and the counts, which
      // it asks for while nothing carries them, too.
      const opened = all.length - asked.length;
      assert.ok(
        asked.length <= most + 4 * opened,
        `${asked.length} requests in 10 minutes, ${opened} streams:\n${asked.join('\n')}`,
      );
      if (path === '/' && opened === 0) assert.deepEqual([...new Set(asked)], ['GET overview?zone=UTC']);
    });
  }

  journey('the first page asks nothing while nothing changes but when the service evaluated last', async (page) => {
    await page.clock.install();
    await go(page, '/');
    await page.locator('h1').waitFor();
    await page.clock.runFor(3_000);
    while (!service().asked.includes('GET clusters')) await wait(50);
    const before = service().asked.length;
    const { status, storage, ready, leader } = health;
    for (let second = 0; second < 240; second += 15) {
      const lastEvaluation = new Date(momentAt + second * 1_000).toISOString();
      service().say('health', { status, storage, ready, leader, lastEvaluation });
      await page.clock.runFor(15_000);
    }
    assert.deepEqual(service().asked.slice(before), []);
  });
});
