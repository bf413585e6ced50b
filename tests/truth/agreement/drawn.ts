import { printWords } from '@cronjob-monitor/shared/domain';
import type { Browser, Page } from 'playwright-core';
import { openPage } from '../../e2e/ui/fixtures/browser.ts';
import { isHeard } from './contradictions.ts';
import {
  ofAlert,
  ofAlerts,
  ofCronJob,
  ofDashboard,
  ofIncidents,
  ofList,
  ofMonitor,
  ofTargets,
} from './drawn-health.ts';
import { drawings, read, readNow, safe, type Drawn } from './drawn-page.ts';
import {
  ofAdvice,
  ofChannel,
  ofChannels,
  ofCoverage,
  ofMonitors,
  ofRun,
  ofSearch,
  ofSilences,
  ofWall,
} from './drawn-places.ts';
import { nameOf, type Pages } from './pages.ts';

const television = '/wall?tv=1';

/** Draws every page of a fleet and compares what stands there with what the service says at this instant. */
export async function contradictionsDrawn(
  browser: Browser,
  address: string,
  pages: Pages,
  now: number,
): Promise<{ readonly pages: number; readonly found: string[] }> {
  await using opened = await openPage(browser, { timezoneId: 'UTC', viewport: { width: 1440, height: 4_000 } });
  const { page, complaints } = opened;
  // Time stands still in the browser as well: "4 min ago" is said of the same instant.
  await page.clock.setFixedTime(now);
  const found: string[] = [];
  let count = 0;
  const draw = async (path: string, check: (drawn: Drawn) => Iterable<string>): Promise<void> => {
    const drawn = await read(page, address + path);
    count += 1;
    const said = complaints.splice(0).map((one) => `the console says ${one}`);
    // A television has no rail.
    const shell = path === television ? [] : ofShell(drawn, pages);
    for (const one of [...check(drawn), ...shell, ...ofSilence(drawn, pages), ...said]) found.push(`${path}: ${one}`);
  };
  const print = (words: string): string => safe(printWords(words, { now, timeZone: 'UTC' }));
  await draw('/', (drawn) => ofDashboard(drawn, pages, print));
  await page.setViewportSize({ width: 1440, height: 620 });
  for (const one of ofIncidents(await readNow(page), pages)) found.push(`/ in a low window: ${one}`);
  await page.setViewportSize({ width: 1440, height: 4_000 });
  await draw('/cronjobs', (drawn) => ofList(drawn, pages, print));
  for (const detail of pages.details)
    await draw(`/cronjobs/${nameOf(detail)}`, (drawn) => ofCronJob(drawn, detail, print));
  await draw('/alerts', (drawn) => ofAlerts(drawn, pages, print));
  for (const alert of pages.alerts.slice(0, 4))
    await draw(`/alerts/${alert.id}`, (drawn) => ofAlert(drawn, alert, print));
  await draw('/sla', (drawn) => ofTargets(drawn, pages));
  for (const monitor of pages.monitors)
    await draw(`/monitors/${nameOf(monitor)}`, (drawn) => ofMonitor(drawn, pages, print));
  await draw('/monitors', (drawn) => ofMonitors(drawn, pages));
  await draw('/coverage', (drawn) => ofCoverage(drawn, pages));
  await draw('/channels', (drawn) => ofChannels(drawn, pages));
  for (const channel of pages.channels) await draw(`/channels/${channel.name}`, (drawn) => ofChannel(drawn, channel));
  await draw('/silences', (drawn) => ofSilences(drawn, pages.silences, / silences$/));
  await draw('/silences?view=expired', (drawn) => ofSilences(drawn, pages.silencesEnded, /^Silences that have ended/));
  await draw('/advice', (drawn) => ofAdvice(drawn, pages, print));
  for (const run of pages.runs)
    await draw(`/cronjobs/${run.namespace}/${run.cronJobName}/runs/${run.jobName}`, (drawn) =>
      ofRun(drawn, run, print),
    );
  await draw('/search?q=went+wrong', (drawn) => ofSearch(drawn, pages));
  await draw('/wall', (drawn) => ofWall(drawn, pages));
  for await (const one of pointedAt(page, pages, print)) found.push(`/wall: ${one}`);
  await draw(television, (drawn) => ofTelevision(drawn, pages));
  return { pages: count, found };
}

/** What the wall says where it is pointed at: of a row its verdict, of a cell what it holds. */
async function* pointedAt(page: Page, { wall }: Pages, print: (words: string) => string): AsyncGenerator<string> {
  const readout = page.locator('.readout');
  for (const { cronjob, verdict, cells } of wall.rows) {
    const row = page.locator(`[role="row"]:has([aria-label^="${nameOf(cronjob)}, "])`);
    await row.locator('.name').hover();
    const said = safe(await readout.innerText());
    if (!said.includes(`${nameOf(cronjob)} ${print(verdict.words)}`))
      yield `it says "${said}", and not "${print(verdict.words)}" of ${nameOf(cronjob)}`;
    const cell = cells.findLast(({ failed, missed }) => failed + missed > 0) ?? cells.at(-1);
    const box = cell && (await row.locator('.lane').boundingBox());
    if (!cell || !box) continue;
    const x = box.x + ((cell.c + 0.5) * box.width) / wall.columns.length;
    await page.mouse.move(x, box.y + box.height / 2);
    const told = safe(await readout.innerText());
    if (!told.includes(print(cell.words)) || !told.startsWith(nameOf(cronjob)))
      yield `it says "${told}", and not "${print(cell.words)}" of column ${cell.c} of ${nameOf(cronjob)}`;
  }
}

/** What a room sees of it: the states that ask for a look, counted. */
function* ofTelevision({ heading, lanes }: Drawn, { stats, wall }: Pages): Generator<string> {
  const wrong = (['critical', 'warning', 'failing'] as const).filter((state) => stats.states[state] > 0);
  const words = wrong.map((state) => `${stats.states[state]} ${state}`).join(', ') || `none with an alert`;
  if (!heading.endsWith(words)) yield `the heading "${heading}" does not say "${words}"`;
  const rows = lanes.filter(({ name }) => !/^(Unfold|Fold) /.test(name)).length;
  if (rows !== wall.rows.length) yield `it has ${rows} rows, /wall ${wall.rows.length}`;
}

/** The rail counts what `/stats` counts, on every page. */
function* ofShell({ rail }: Drawn, { stats }: Pages): Generator<string> {
  for (const state of ['critical', 'warning', 'failing'] as const)
    if ((rail[drawings[state][0].toLowerCase()] ?? 0) !== stats.states[state])
      yield `the rail counts ${rail[drawings[state][0].toLowerCase()] ?? 0} ${state}, /stats has ${stats.states[state]}`;
}

/** "No channel is told" stands only where it is so: without a channel, for a monitor that names none, or for an alert of which `told` says so. */
function* ofSilence({ text }: Drawn, { stats, monitors, alertDetails, history, coverage }: Pages): Generator<string> {
  if (!/no channel (?:is|was) told|told to no channel/i.test(text)) return;
  const isSo =
    stats.channels.total === 0 ||
    monitors.some(({ channels }) => channels.length === 0) ||
    coverage.some((one) => !isHeard(one)) ||
    [...alertDetails, ...history].some(({ told }) => told.state === 'none' || told.state === 'failed');
  if (!isSo)
    yield 'it says that no channel is told, and every alert and every failure to come has a channel that was told or will be';
}
