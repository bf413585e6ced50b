/**
 * Plays fleets one after the other, in a process without a test runner, whose hooks would take a third of the time: seeds come as lines of
 * standard input, what was found goes out as a line of JSON each. With `BROWSER=1` the pages of a fleet are drawn besides.
 */
import { createInterface } from 'node:readline';
import { testSettings } from '@cronjob-monitor/apiserver/testing';
import { createLogger, systemClock } from '@cronjob-monitor/shared/process';
import type { Browser } from 'playwright-core';
import { serveApi } from '../../api/api-under-test.ts';
import { aClusterOfOne } from '../../api/cluster.ts';
import { builtUi, startBrowser } from '../../e2e/ui/fixtures/browser.ts';
import { testDatabases } from '../../store/databases.ts';
import { standInForTheMachine } from '../observer/machine.ts';
import { observe } from '../observer/observe.ts';
import { calm } from '../observer/random-observation.ts';
import { contradictionsOf } from './contradictions.ts';
import { contradictionsDrawn } from './drawn.ts';
import { contradictionsElsewhere, contradictionsOfExplain, elsewhereOf } from './elsewhere.ts';
import { act, fleetOf } from './fleet.ts';
import type { MessageTaken } from './messages.ts';
import { readPages } from './pages.ts';

/** What was read of one fleet. */
export interface Played {
  readonly seed: number;
  readonly looks: number;
  readonly cronJobs: number;
  /** Pages that a browser drew. */
  readonly pagesDrawn: number;
  readonly contradictions: readonly string[];
  readonly seconds: number;
}

// The browser first: its driver needs what is put out of the way of virtual time.
const browser: Browser | undefined = process.env['BROWSER'] === '1' ? await startBrowser() : undefined;
const uiFolder = browser && (await builtUi());

let messages: MessageTaken[] = [];
let answer: () => number = () => 200;
standInForTheMachine(({ body }) => {
  const status = answer();
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the suites of the channels check the shape
  if (status < 300) messages.push(JSON.parse(body) as MessageTaken);
  return status;
});

const logger = createLogger({ level: 'error', format: 'text', clock: systemClock, write: () => {} });
const sqlite = testDatabases().find(({ name }) => name === 'sqlite');
if (!sqlite) throw new Error('DATABASES leaves no SQLite');
const database = sqlite;

/** Statuses and metrics follow so soon what moved. */
const settledMs = 60_000;

/** What statuses and metrics count. */
const stateOf = ({ cronJobs, groups, monitors }: Awaited<ReturnType<typeof readPages>>): string =>
  JSON.stringify([
    [...cronJobs, ...groups].map(({ namespace, name, verdict }) => [namespace, name, verdict.state, verdict.kind]),
    monitors.map(({ namespace, name, states }) => [namespace, name, states]),
  ]);

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await play(JSON.parse(line) as number))}\n`);
  await database.remove();
}
await browser?.close();

async function play(seed: number): Promise<Played> {
  const startedMs = performance.now();
  const { history, looks, answersWith } = fleetOf(seed);
  const contradictions: string[] = [];
  let cronJobs = 0;
  let looked = 0;
  let pagesDrawn = 0;
  let nowMs = history.startAt;
  let stateBefore = '';
  messages = [];
  answer = () => answersWith(nowMs);
  await observe(history, calm(history), {
    freshDatabase: () => database.fresh(),
    logger,
    lookAt: [...looks, history.endAt - settledMs],
    look: async (service, world, now) => {
      nowMs = now;
      await using api = await serveApi({
        store: service.store,
        cluster: aClusterOfOne(),
        clock: { ...systemClock, now: () => now },
        settings: { ...testSettings, costlyRequestsPerMinute: 100_000 },
        ...(uiFolder !== undefined && { uiFolder }),
      });
      const address = `http://127.0.0.1:${api.port}`;
      const isAtEnd = now === history.endAt;
      if (now === history.endAt - settledMs) {
        stateBefore = stateOf(await readPages(address));
        return;
      }
      if (!isAtEnd) await act(address, seed, now);
      const pages = await readPages(address);
      cronJobs += pages.cronJobs.length;
      looked += 1;
      const found = contradictionsOf(pages);
      if (isAtEnd) for await (const one of contradictionsOfExplain(pages, address, now)) found.push(one);
      // An alert may have begun, become active, been held or ended; a group of Jobs may have been forgotten.
      const isQuiet =
        stateOf(pages) === stateBefore &&
        [...pages.alertDetails, ...pages.endedDetails].every(({ timeline }) =>
          timeline.every(({ at }) => now - Date.parse(at) > settledMs),
        );
      if (isAtEnd && isQuiet)
        found.push(...contradictionsElsewhere(pages, await elsewhereOf(service, world, messages), now));
      if (browser && isAtEnd) {
        const drawn = await contradictionsDrawn(browser, address, pages, now);
        pagesDrawn += drawn.pages;
        found.push(...drawn.found);
      }
      contradictions.push(...found.map((one) => `${new Date(now).toISOString()}: ${one}`));
    },
  });
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10;
  return { seed, looks: looked, cronJobs, pagesDrawn, contradictions, seconds };
}
