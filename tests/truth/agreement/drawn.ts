import { isDeepStrictEqual } from 'node:util';
import { healthStates, type HealthState, type Verdict } from '@cronjob-monitor/shared/contract';
import { printWords } from '@cronjob-monitor/shared/domain';
import type { Browser, Page } from 'playwright-core';
import { openPage, until } from '../../e2e/ui/fixtures/browser.ts';
import { isHeard } from './contradictions.ts';
import { nameOf, type Pages } from './pages.ts';

/** The word and the tone that each state is drawn with; written down here once more. */
const drawings: Readonly<Record<HealthState, readonly [word: string, tone: string]>> = {
  critical: ['Critical', 'crit'],
  warning: ['Warning', 'warn'],
  failing: ['Failing', 'warn'],
  unknown: ['Not known yet', 'off'],
  suspended: ['Suspended', 'off'],
  healthy: ['Healthy', 'ok'],
};

/** One row of a table or of a list of incidents, or a line of an alert in one, as it is drawn. */
interface Row {
  readonly key: string;
  readonly text: string;
  /** Checks in it, but for those that say that a message was sent. */
  readonly checks: number;
  readonly badges: readonly string[];
}

interface Table {
  readonly label: string;
  readonly rows: readonly Row[];
}

/** A page, as it is drawn. */
interface Drawn {
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly tables: readonly Table[];
  readonly verdict: { readonly sentence: string; readonly tone: string; readonly checks: number } | null;
  /** Counts of the first page, by the word of their state. */
  readonly shares: Readonly<Record<string, string>>;
  /** Counts that the rail shows, and those of the filter of states. */
  readonly rail: Readonly<Record<string, number>>;
  readonly segments: Readonly<Record<string, number>>;
}

/** Asked from outside, as text: the policy of the page lets it evaluate none itself. */
const look = `(() => {
  const textOf = (element) => (element?.innerText ?? '').replace(/\\s+/g, ' ').trim();
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const isTold = (icon) => /\\d\\d:\\d\\d|^Told|in a digest|joined/.test(textOf(icon.closest('.badge')));
  const checks = (within) => all('svg.icon.ok', within).filter((icon) => !isTold(icon)).length;
  const rows = (table) => all('[data-row], [data-alert]', table).map((row) => ({
    key: row.dataset.alert ?? row.dataset.row, text: textOf(row), checks: checks(row), badges: all('.badge', row).map(textOf),
  }));
  const card = document.querySelector('section[aria-label="Verdict"]');
  const tone = ['ok', 'warn', 'crit', 'off', 'held', 'run'].find((one) => card?.classList.contains(one)) ?? '';
  const counted = (within) => Object.fromEntries(all('.counts > span', within).map((span) => {
    const word = textOf(span.querySelector('.visually-hidden')) || span.querySelector('.visually-hidden')?.textContent || '';
    return [word.trim(), Number(span.textContent.replace(/\\D/g, ''))];
  }));
  return {
    title: document.title,
    heading: textOf(document.querySelector('h1')),
    text: textOf(document.querySelector('main') ?? document.body),
    tables: all('table, ul:has(> [data-row])').map((table) => ({ label: table.getAttribute('aria-label') ?? '', rows: rows(table) })),
    verdict: card && { sentence: textOf(card.querySelector('.sentence')), tone, checks: all('.sign svg.ok', card).length },
    shares: Object.fromEntries(all('[data-share]').map((share) => [share.dataset.share, textOf(share.querySelector('b'))])),
    shares: Object.fromEntries(all('[data-share]').map((share) => [share.dataset.share, textOf(share.querySelector('b'))])),
    rail: counted(document.querySelector('nav[aria-label="Pages"]') ?? document),
    segments: Object.fromEntries(all('[role="group"] button, [role="radiogroup"] button, .segments button').map((button) => {
      const [, word = '', count = ''] = /^(.*?)\\s*(\\d+)?$/.exec(textOf(button)) ?? [];
      return [word.trim(), count === '' ? NaN : Number(count)];
    })),
  };
})()`;

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
    for (const one of [...check(drawn), ...ofShell(drawn, pages), ...ofSilence(drawn, pages), ...said])
      found.push(`${path}: ${one}`);
  };
  const print = (words: string): string => safe(printWords(words, { now, timeZone: 'UTC' }));
  await draw('/', (drawn) => ofDashboard(drawn, pages, print));
  await draw('/cronjobs', (drawn) => ofList(drawn, pages, print));
  for (const detail of pages.details)
    await draw(`/cronjobs/${nameOf(detail)}`, (drawn) => ofVerdict(drawn, detail.verdict, print));
  await draw('/alerts', (drawn) => ofAlerts(drawn, pages, print));
  for (const { id, verdict } of pages.alerts.slice(0, 4))
    await draw(`/alerts/${id}`, (drawn) => ofVerdict(drawn, verdict, print));
  await draw('/sla', (drawn) => ofTargets(drawn, pages));
  for (const monitor of pages.monitors)
    await draw(`/monitors/${nameOf(monitor)}`, (drawn) => ofMonitor(drawn, pages, print));
  await draw('/wall', () => []);
  return { pages: count, found };
}

async function read(page: Page, url: string): Promise<Drawn> {
  await page.goto(url);
  await page.locator('h1').first().waitFor();
  await until(page, `document.querySelector('.skeleton, tr[data-row=""]') === null`);
  // The alerts of an incident are lines of its row, and drawn while it is open.
  const folded = page.locator('main [data-row] button[aria-expanded="false"]:not([aria-haspopup])');
  while ((await folded.count()) > 0) await folded.first().click();
  // Parts that come later, such as figures of the shell, change the page: it is read when it stands still.
  let before = await page.evaluate<Drawn>(look);
  for (let quiet = 0; quiet < 2;) {
    await page.waitForTimeout(60);
    const drawn = await page.evaluate<Drawn>(look);
    quiet = isDeepStrictEqual(drawn, before) ? quiet + 1 : 0;
    before = drawn;
  }
  return before;
}

/** As it is compared: spaces are one, and what could turn text around is left out. */
const safe = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A row shows the verdict of its CronJob: state, sentence, every hold, and a check only where it is healthy. */
function* ofRow(
  row: Row | undefined,
  place: string,
  verdict: Verdict,
  print: (words: string) => string,
): Generator<string> {
  if (!row) {
    yield `${place} has no row`;
    return;
  }
  if (!row.text.includes(print(verdict.words))) yield `${place} says "${row.text}", and not "${print(verdict.words)}"`;
  for (const hold of verdict.holds)
    if (!row.badges.includes(print(hold.words))) yield `${place} has no chip "${print(hold.words)}"`;
  if (verdict.state !== 'healthy' && row.checks > 0) yield `${place} is ${verdict.state} and has a check`;
}

function* ofList(
  { tables, segments }: Drawn,
  { cronJobs }: Pages,
  print: (words: string) => string,
): Generator<string> {
  const rows = tables.find(({ label }) => label === 'CronJobs')?.rows ?? [];
  if (rows.length !== cronJobs.length) yield `${rows.length} rows, the list has ${cronJobs.length}`;
  for (const { namespace, name, verdict } of cronJobs) {
    const row = rows.find(({ key }) => key === `${namespace}/${name}`);
    yield* ofRow(row, `${namespace}/${name}`, verdict, print);
    if (row && !row.badges.includes(drawings[verdict.state][0]))
      yield `${namespace}/${name} is ${verdict.state} and shows [${row.badges.join(', ')}]`;
  }
  if (cronJobs.length === 0) return;
  for (const state of healthStates) {
    const counted = cronJobs.filter(({ verdict }) => verdict.state === state).length;
    const shown = segments[drawings[state][0]];
    if (shown !== counted) yield `the filter counts ${shown} ${state}, the list has ${counted}`;
  }
}

function* ofDashboard(drawn: Drawn, pages: Pages, print: (words: string) => string): Generator<string> {
  const { cronJobs, stats } = pages;
  if (cronJobs.length === 0) return;
  for (const state of healthStates) {
    const [word] = drawings[state];
    const shown = drawn.shares[word];
    if (shown !== String(stats.states[state])) yield `the share ${word} is ${shown}, /stats has ${stats.states[state]}`;
  }
  yield* ofHeadline(drawn, pages);
  const isWell = cronJobs.every(({ verdict }) => verdict.state === 'healthy' || verdict.state === 'suspended');
  if (/\bfine\b/.test(drawn.heading) && !isWell) yield `the headline says "${drawn.heading}"`;
  for (const { label, rows } of drawn.tables)
    for (const row of rows) {
      // What is to come has a risk, and no verdict.
      if (label === 'CronJobs at risk') continue;
      const item = cronJobs.find((one) => nameOf(one) === row.key);
      if (item) yield* ofRow(row, `${row.key} in "${label}"`, item.verdict, print);
    }
  const wrong = cronJobs.filter(({ verdict }) => ['critical', 'warning', 'failing'].includes(verdict.state));
  const isCut = drawn.tables.some(({ rows }) => rows.length >= 8);
  for (const { namespace, name, verdict } of isCut ? [] : wrong)
    if (
      !drawn.tables.some(({ rows }) => rows.some(({ key }) => key === `${namespace}/${name}`)) &&
      verdict.holds.length === 0
    )
      yield `${namespace}/${name} is ${verdict.state} and is not there`;
}

/** The headline counts the worst state that is not empty, and names CronJobs that are in it. */
function* ofHeadline({ heading }: Drawn, { cronJobs, stats }: Pages): Generator<string> {
  const worst = (['critical', 'warning', 'failing'] as const).find((state) => stats.states[state] > 0);
  if (worst === undefined) return;
  const [, count, word, first] = /^(\d+) (\w+): ([^,;]+?)(?:,| and \d+ more|;|$)/.exec(heading) ?? [];
  if (word !== worst || count !== String(stats.states[worst]))
    yield `the headline "${heading}" is not about ${stats.states[worst]} ${worst}`;
  else if (!cronJobs.some(({ name, verdict }) => name === first && verdict.state === worst))
    yield `the headline "${heading}" names ${first}, which is not ${worst}`;
}

function* ofVerdict({ verdict, text }: Drawn, expected: Verdict, print: (words: string) => string): Generator<string> {
  if (verdict?.sentence !== print(expected.words))
    yield `the verdict says "${verdict?.sentence}", and not "${print(expected.words)}"`;
  if (expected.state !== 'healthy' && (verdict?.checks ?? 0) > 0) yield `it is ${expected.state} and has a check`;
  for (const { words } of [...expected.holds, ...expected.findings])
    if (!text.includes(print(words))) yield `it does not say "${print(words)}"`;
  // A step that repeats a finding stands there once, as the finding.
  const isFinding = expected.findings.some(({ words }) => expected.step?.words.includes(words));
  if (expected.step && !isFinding && !text.includes(print(expected.step.words)))
    yield `it does not say "${print(expected.step.words)}"`;
}

function* ofAlerts({ tables }: Drawn, { alerts }: Pages, print: (words: string) => string): Generator<string> {
  const rows = tables.flatMap((table) => table.rows);
  for (const { id, verdict, cronjob } of alerts) {
    const row = rows.find(({ key }) => key === id);
    yield* ofRow(row, `alert ${id} of ${nameOf(cronjob)}`, verdict, print);
  }
}

function* ofTargets({ tables, text }: Drawn, { targets }: Pages): Generator<string> {
  const rows = tables.find(({ label }) => label === 'Targets')?.rows ?? [];
  if (rows.length !== targets.length) yield `${rows.length} rows of ${targets.length} targets; ${text.slice(0, 80)}`;
  const words = { breached: 'Breached', pending: 'Not judged yet', atRisk: 'At risk', noData: 'No data', met: 'Met' };
  for (const { cronjob, monitor, subject, verdict } of targets) {
    const key = `${nameOf(cronjob)} ${nameOf(monitor)} ${subject}`;
    const row = rows.find((one) => one.key === key);
    if (!row?.badges.includes(words[verdict])) yield `${key} is ${verdict} and shows [${row?.badges.join(', ')}]`;
    if (row && verdict !== 'met' && row.checks > 0) yield `${key} is ${verdict} and has a check`;
  }
}

function* ofMonitor({ tables }: Drawn, { cronJobs }: Pages, print: (words: string) => string): Generator<string> {
  for (const { label, rows } of tables) {
    if (!label.startsWith('CronJobs of')) continue;
    for (const row of rows) {
      const item = cronJobs.find((one) => nameOf(one) === row.key);
      if (item) yield* ofRow(row, `${row.key} in "${label}"`, item.verdict, print);
    }
  }
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
