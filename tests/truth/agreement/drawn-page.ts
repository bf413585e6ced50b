import { isDeepStrictEqual } from 'node:util';
import type { HealthState } from '@cronjob-monitor/shared/contract';
import type { Page } from 'playwright-core';
import { until } from '../../e2e/ui/fixtures/browser.ts';

/** The word and the tone that each state is drawn with; written down here once more. */
export const drawings: Readonly<Record<HealthState, readonly [word: string, tone: string]>> = {
  critical: ['Critical', 'crit'],
  warning: ['Warning', 'warn'],
  failing: ['Failing', 'warn'],
  unknown: ['Not known yet', 'off'],
  suspended: ['Suspended', 'off'],
  healthy: ['Healthy', 'ok'],
};

/** One row of a table or of a list of incidents, or a line of an alert in one, as it is drawn. */
export interface Row {
  readonly key: string;
  /** Where its first link leads. */
  readonly href: string;
  readonly text: string;
  /** Checks in it, but for those that say that a message was sent. */
  readonly checks: number;
  readonly badges: readonly string[];
  /** Words and tones of these. */
  readonly marks: readonly string[];
  /** Word and tone of the icon that an incident, or an alert of one, begins with. */
  readonly state: string;
  /** `since 4 h`, as an incident says it; instants that are drawn. */
  readonly since: string;
  readonly times: readonly string[];
  /** Of a table: each cell under the title of its column. A column that stands there only while it counts something has none. */
  readonly cells: Readonly<Record<string, string>>;
}

interface Table {
  readonly label: string;
  readonly rows: readonly Row[];
}

/** A page, as it is drawn. */
export interface Drawn {
  readonly title: string;
  readonly heading: string;
  readonly text: string;
  readonly tables: readonly Table[];
  readonly cards: readonly {
    readonly title: string;
    readonly note: string;
    readonly text: string;
    readonly badges: readonly string[];
  }[];
  /** Rows of the wall: their names, and which marks are drawn in them. */
  readonly lanes: readonly { readonly name: string; readonly tone: string; readonly looks: readonly string[] }[];
  /** Words and tones beside the heading. */
  readonly marks: readonly string[];
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
  const toneOf = (element) => ['ok', 'warn', 'crit', 'off', 'held', 'run'].find((one) => element?.classList.contains(one)) ?? '';
  const marks = (within) => all('.badge', within).map((badge) => textOf(badge) + ' ' + toneOf(badge));
  const rows = (table) => all('[data-row], [data-alert]', table).map((row) => ({
    key: row.dataset.alert ?? row.dataset.row, href: row.querySelector('a')?.getAttribute('href') ?? '', text: textOf(row), checks: checks(row), badges: all('.badge', row).map(textOf), marks: marks(row),
    state: [row.querySelector('.state + .visually-hidden')?.textContent.split(',')[0], toneOf(row.querySelector('.state svg'))].join(' '),
    since: textOf(row.querySelector('p > .since')), times: all('time', row).map((time) => time.dateTime),
    cells: Object.fromEntries(all('td', row).map((cell, index) => [textOf(all('thead th', table)[index]), textOf(cell)])),
  }));
  const card = document.querySelector('section[aria-label="Verdict"]');
  const tone = toneOf(card);
  const counted = (within) => Object.fromEntries(all('.counts > span', within).map((span) => {
    const word = textOf(span.querySelector('.visually-hidden')) || span.querySelector('.visually-hidden')?.textContent || '';
    return [word.trim(), Number(span.textContent.replace(/\\D/g, ''))];
  }));
  return {
    title: document.title,
    heading: textOf(document.querySelector('h1')),
    text: textOf(document.querySelector('main') ?? document.body),
    tables: all('table, ul:has(> [data-row])').map((table) => ({ label: table.getAttribute('aria-label') ?? '', rows: rows(table) })),
    cards: all('section.card').map((section) => ({
      title: section.getAttribute('aria-label') ?? '', note: textOf(section.querySelector('.note')), text: textOf(section),
      badges: all('.badge', section).map(textOf),
    })),
    lanes: all('[role="rowheader"]').map((head) => ({
      name: head.getAttribute('aria-label'), tone: toneOf(head), looks: all('.lane path', head.parentElement).map((path) => path.classList[0]),
    })),
    marks: marks(document.querySelector('.title') ?? document.body),
    verdict: card && { sentence: textOf(card.querySelector('.sentence')), tone, checks: all('.sign svg.ok', card).length },
    shares: Object.fromEntries(all('[data-share]').map((share) => [share.dataset.share, textOf(share.querySelector('b'))])),
    rail: counted(document.querySelector('nav[aria-label="Pages"]') ?? document),
    segments: Object.fromEntries(all('[role="group"] button, [role="radiogroup"] button, .segments button').map((button) => {
      const [, word = '', count = ''] = /^(.*?)\\s*(\\d+)?$/.exec(textOf(button)) ?? [];
      return [word.trim(), count === '' ? NaN : Number(count)];
    })),
  };
})()`;

/** Opens a page, and reads it when it stands still. */
export async function read(page: Page, url: string): Promise<Drawn> {
  await page.goto(url);
  return readNow(page);
}

/** Reads the page that is open, when it stands still. */
export async function readNow(page: Page): Promise<Drawn> {
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
export const safe = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
