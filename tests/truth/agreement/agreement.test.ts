import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import { serveApi } from '../../api/api-under-test.ts';
import { aClusterOfOne } from '../../api/cluster.ts';
import { testDatabases } from '../../store/databases.ts';
import { standInForTheMachine } from '../observer/machine.ts';
import { observe } from '../observer/observe.ts';
import type { History } from '../observer/history.ts';
import { Random } from '../observer/random.ts';
import { randomHistory } from '../observer/random-history.ts';
import { calm } from '../observer/random-observation.ts';
import type { Replica } from '../observer/replica.ts';
import type { World } from '../observer/world.ts';
import { firstSeed, seeds } from '../seeds.ts';
import { contradictionsOf, contradictionsOfAnswers } from './contradictions.ts';
import { readPages, type MonitorStatusShown, type Pages } from './pages.ts';

standInForTheMachine(() => 200);

/** How often a fleet is looked at while it moves. */
const looksInside = 6;
const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });

for (const database of testDatabases().filter(({ name }) => name === 'sqlite')) {
  test(`no two pages contradict each other, fleets from seed ${firstSeed} on: ${database.name}`, async (context) => {
    let fleets = 0;
    let cronJobs = 0;
    try {
      for (const seed of seeds()) {
        const history = randomHistory(seed, { cells: 1, cronJobs: 14, days: 1 });
        const found: string[] = [];
        let looks = 0;
        await observe(history, calm(history), {
          freshDatabase: () => database.fresh(),
          logger,
          lookAt: restlessInstants(history),
          look: async (service, world, now) => {
            const pages = await read(service, world, now);
            cronJobs += pages.cronJobs.length;
            looks += 1;
            // Metrics and the monitors' own status follow within a minute: they are compared when nothing moves any more.
            const contradictions = now === history.endAt ? contradictionsOf(pages) : contradictionsOfAnswers(pages);
            found.push(...contradictions.map((one) => `${new Date(now).toISOString()}: ${one}`));
          },
        });
        fleets += 1;
        assert.equal(looks, looksInside + 1, 'the pages were not read');
        assert.deepEqual(found, [], `seed ${seed}; again with SEED=${seed} npm test -- truth/agreement`);
      }
    } finally {
      context.diagnostic(`${fleets} fleets, ${cronJobs} CronJobs`);
      await database.remove();
    }
  });
}

/** Instants at which runs end, alerts open and slots are judged: whatever happens then. */
function restlessInstants({ startAt, endAt, seed }: History): number[] {
  const random = new Random(seed);
  return Array.from(
    { length: looksInside },
    () => startAt + random.whole(3_600, (endAt - startAt) / 1_000 - 1) * 1_000,
  );
}

/** The API serves the store of the service at the instant at which its time stands still. */
async function read(service: Replica, world: World, now: number): Promise<Pages> {
  await using api = await serveApi({
    store: service.store,
    cluster: aClusterOfOne(),
    clock: { ...systemClock, now: () => now },
    settings: testSettings,
  });
  const others = { statuses: statusesOf(world), metrics: await countsOf(service) };
  return await readPages(`http://127.0.0.1:${api.port}`, others);
}

function statusesOf(world: World): ReadonlyMap<string, MonitorStatusShown> {
  return new Map(
    world.list('CronJobMonitor').map(({ metadata, status }) => [
      `${metadata.namespace}/${metadata.name}`,
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the resources check the shape
      (status ?? { summary: {}, cronJobs: [] }) as MonitorStatusShown,
    ]),
  );
}

/** `cronjob_monitor_cronjobs`, by status. */
async function countsOf({ registry }: Replica): Promise<Record<string, number>> {
  const text = await registry.metrics();
  const lines = text.matchAll(/^cronjob_monitor_cronjobs\{status="(\w+)"\} (\d+)/gm);
  return Object.fromEntries([...lines].map(([, status, count]) => [String(status), Number(count)]));
}
