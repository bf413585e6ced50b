import axe, { type Result, type RunOptions } from 'axe-core';
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { drillLink } from './fixtures/answers/index.ts';
import { startFakeService, type FakeService } from './fixtures/api-server.ts';
import { builtUi, newContext, openTab, sidewaysPx, startBrowser, whyNoBrowser } from './fixtures/browser.ts';

type Step = (page: Page) => Promise<unknown>;

type Part = readonly [role: 'button' | 'menu' | 'textbox' | 'option' | 'region', name?: string | RegExp];
const partOf = (page: Page, [role, name]: Part): Locator =>
  page.getByRole(role, name === undefined ? {} : { name }).first();

/** Opens what lies over a page, by keys or a button, and waits until it is there. */
const opening =
  (by: readonly string[] | Part, what: Part): Step =>
  async (page) => {
    if (by[0] === 'button') await partOf(page, by as Part).click();
    else for (const key of by) await page.keyboard.press(String(key));
    await partOf(page, what).waitFor();
  };

/** Every page with an address at which it has something to show, and what is opened over it. */
const pages: readonly (readonly [name: string, path: string, ready: string, open?: Step])[] = [
  ['dashboard', '/', 'text=No success for'],
  ['cronjobs', '/cronjobs', 'text=nightly-backup'],
  ['cronjobs-none', '/cronjobs?state=critical&q=zzz', 'text=No CronJob matches'],
  ['cronjobs-chosen', '/cronjobs', 'text=No success for', opening(['Shift+J', 'Shift+J'], ['region', 'Chosen rows'])],
  ['cronjobs-menu', '/cronjobs', 'text=No success for', opening(['button', /^Actions of/], ['menu'])],
  [
    'cronjobs-popover',
    '/cronjobs',
    'text=No success for',
    opening(['button', 'Namespace all'], ['textbox', 'Find Namespace']),
  ],
  ['palette', '/', 'text=No success for', opening(['/', 'b', 'a', 'c', 'k'], ['option'])],
  ['cronjob', '/cronjobs/data/nightly-backup', 'text=Last runs'],
  ['cronjob-runs', '/cronjobs/data/nightly-backup?part=runs', 'text=in 30 days'],
  ['cronjob-trends', '/cronjobs/data/nightly-backup?part=trends', 'text=Success of each day'],
  ['cronjob-rules', '/cronjobs/data/nightly-backup?part=rules', 'text=Delete history'],
  ['cronjob-running', '/cronjobs/prod/search-reindex', 'text=1 active run'],
  ['cronjob-new', '/cronjobs/team-b/loyalty-sync', 'text=No run seen yet'],
  ['run', '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440', 'text=Killed'],
  [
    'run-difference',
    '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440?log=difference',
    'text=common lines folded',
  ],
  ['run-beside', '/cronjobs/data/nightly-backup/runs/nightly-backup-29920440?log=beside', 'text=common lines folded'],
  ['run-unknown', '/cronjobs/data/nightly-backup/runs/nope', 'text=No run is called'],
  ['monitors', '/monitors', 'text=Degraded'],
  ['monitor', '/monitors/billing/all', 'text=Who is told'],
  ['rule-lab', '/monitors/billing/all?part=rules', 'text=These rules raise 2 alerts'],
  ['alerts', '/alerts', 'ul[aria-label="Failing, worst first"]'],
  ['alerts-history', '/alerts?view=history', 'text=Resolved'],
  ['alert', '/alerts/019b-data%2Fnightly-backup', 'text=data-hook: given up'],
  ['alert-waiting', '/alerts/019b-waiting', 'text=Waits before a channel'],
  ['alert-unknown', '/alerts/nope', 'text=Nothing is at'],
  ['silences', '/silences', 'text=over 2 alerts that still hold'],
  ['silences-expired', '/silences?view=expired', 'text=markup is text'],
  ['silence-new', '/silences?form=new&ns=data&cronjob=nightly-backup', 'text=would hold 1 alert now'],
  ['silence-change', '/silences?form=019c-until', 'text=As it was'],
  ['channels', '/channels', 'text=2 messages wait'],
  ['channel', '/channels/billing-hook', 'text=Renew the credentials'],
  ['channel-drills', '/channels/ops-chat', 'text=to be acknowledged until'],
  ['drill', drillLink, 'text=Your name'],
  ['drill-keyless', '/drills/019e-waiting', 'text=has no key'],
  ['sla', '/sla', 'text=52 of 57'],
  ['sla-groups', '/sla?group=owner', 'text=No owner'],
  ['sla-report', '/sla/report', 'text=1 of 2 targets was missed'],
  ['coverage', '/coverage', 'text=No monitor selects it'],
  ['advice', '/advice', 'text=critical each Monday'],
  ['search', '/search?q=heap', 'text=heap 467 MiB'],
  ['search-none', '/search', 'text=Nothing is looked for yet'],
  ['wall', '/wall', 'text=not recorded'],
  ['wall-folded', '/wall?step=3h&folded=data', 'text=Starts per'],
  ['wall-none', '/wall?q=none-of-them', 'text=No CronJob matches'],
  ['clusters', '/clusters', 'text=Incidents of all clusters'],
  ['settings', '/settings', 'text=Default zone'],
  ['settings-patterns', '/settings?part=patterns', 'text=A run to try it on'],
  ['settings-configuration', '/settings?part=configuration', 'text=storage.type'],
  ['unknown', '/no/such/page.html', 'text=No such page'],
];
/** A form of the pages: the window in which each is opened and judged, and the narrower one to which that then shrinks. */
const forms = {
  wide: { width: 1440, height: 1000, shrunkTo: 768 },
  narrow: { width: 390, height: 844, shrunkTo: 320 },
} as const;
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** A theme is made of colours alone: nothing else is another one in the dark. */
const rulesOfColours = ['color-contrast', 'link-in-text-block'];
/** Pages whose drawings tell states. */
const drawn = ['dashboard', 'cronjobs', 'cronjob', 'cronjob-trends', 'sla', 'rule-lab', 'wall'];
const pictures = fileURLToPath(new URL('../../../.test-output/ui/', import.meta.url));

/** What an accessibility checker finds, a line each. */
export async function judge(page: Page, looksAt: 'all' | 'colours' = 'all'): Promise<string[]> {
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source);
  const options: RunOptions = {
    runOnly: looksAt === 'all' ? { type: 'tag', values: rules } : { type: 'rule', values: rulesOfColours },
    // Of what is well it would describe every element, which takes as long again.
    resultTypes: ['violations'],
    // An open menu lies over the page, beside its landmarks, and is announced with its button.
    rules: { region: { enabled: (await page.getByRole('menu').count()) === 0 } },
  };
  const violations = await page.evaluate<Result[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  return violations.map(({ id, nodes }) => {
    const where = nodes
      .slice(0, 3)
      .map(({ html, failureSummary = '' }) => `${html} (${failureSummary.split('\n').slice(1, 2).join().trim()})`);
    return `${id}: ${where.join(' | ')}`;
  });
}

/** Paints of drawings that are no colour of the system where colours are forced, and signs of two states that look alike there. */
const lostInForcedColours = `(() => {
  const probe = document.body.appendChild(document.createElement('i'));
  const system = ['Canvas', 'CanvasText', 'LinkText', 'GrayText', 'Highlight', 'ButtonText', 'ButtonFace', 'ButtonBorder'].map((name) => {
    probe.style.color = name;
    return getComputedStyle(probe).color;
  });
  probe.remove();
  const lost = new Set();
  for (const shape of document.querySelectorAll('main svg :is(path, rect, circle, text)')) {
    const { fill, stroke } = getComputedStyle(shape);
    for (const paint of [fill, stroke])
      if (/^(rgb|color)/.test(paint) && !/, 0\\)$/.test(paint) && !system.includes(paint))
        lost.add(shape.closest('svg').getAttribute('class') + ' ' + shape.getAttribute('class') + ': ' + paint);
  }
  const toneOf = new Map();
  for (const icon of document.querySelectorAll('main svg.icon')) {
    const tone = ['ok', 'warn', 'crit'].find((one) => icon.classList.contains(one));
    const form = icon.innerHTML.replace(/class="[^"]*"/g, '');
    if (tone && (toneOf.get(form) ?? tone) !== tone) lost.add(tone + ' looks as ' + toneOf.get(form) + ': ' + form);
    if (tone) toneOf.set(form, tone);
  }
  return [...lost];
})()`;

/** What a thumb does not meet: links, buttons and fields under 24 pixels. A row is pressed as a whole, and so is the label of a field. */
const smallTargets = `[...document.querySelectorAll('a[href], button, input, summary')].flatMap((element) => {
  const box = (element.closest('label') ?? element).getBoundingClientRect();
  const isSeen = box.width > 0 && box.left >= 0 && element.checkVisibility({ checkVisibilityCSS: true });
  if (!isSeen || element.matches('[data-row-link]') || (box.width >= 23.5 && box.height >= 23.5)) return [];
  return [element.outerHTML.slice(0, 90) + ' ' + Math.round(box.width) + ' x ' + Math.round(box.height)];
})`;

/** Buttons and links whose words stand out of them, over what is beside. */
const spilling = `[...document.querySelectorAll('button, a')].flatMap((one) => {
  const { overflowX, display } = getComputedStyle(one);
  const spills = display !== 'inline' && overflowX === 'visible' && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1;
  return spills ? [one.outerHTML.slice(0, 90)] : [];
})`;

/** Text at twice its size: the tokens are all sizes that there are. Returns what is cut off by a box that does not say so. */
const cutAtTwiceTheText = `(() => {
  const root = document.documentElement;
  const styles = getComputedStyle(root);
  const sized = ['least', 'least-strong', 'table', 'table-strong', 'body', 'body-strong', 'verdict', 'title', 'display', 'figure', 'mono'];
  for (const name of sized) {
    const twice = styles.getPropertyValue('--' + name).replace(/(\\d+)px/g, (_, px) => 2 * px + 'px');
    root.style.setProperty('--' + name, twice);
  }
  const cut = new Set();
  for (const box of document.querySelectorAll('main *, nav *, header *')) {
    const { overflowX, overflowY, textOverflow, webkitLineClamp, position } = getComputedStyle(box);
    if (position === 'absolute' || textOverflow === 'ellipsis' || webkitLineClamp !== 'none' || box.clientHeight === 0) continue;
    const isCut = (/hidden|clip/.test(overflowY) && box.scrollHeight > box.clientHeight + 2) ||
      (/hidden|clip/.test(overflowX) && box.scrollWidth > box.clientWidth + 2);
    if (isCut && box.textContent.trim() !== '') cut.add(box.tagName + '.' + box.className + ': ' + box.textContent.trim().slice(0, 60));
  }
  return [...cut];
})()`;

/** Tests of every page in one form and both themes: two files, so that two browsers share the work. */
export function judgeEveryPage(form: keyof typeof forms): void {
  const { width, height, shrunkTo } = forms[form];

  describe(`every page, ${form}`, { skip: whyNoBrowser() ?? false }, () => {
    let browser: Browser;
    /** Of all pages: what one of them loads is compiled for the next. */
    let context: BrowserContext;
    let service: FakeService;

    before(async () => {
      mkdirSync(pictures, { recursive: true });
      service = await startFakeService({ uiFolder: await builtUi() });
      browser = await startBrowser();
      context = await newContext(browser, { colorScheme: 'dark', viewport: { width, height } });
    });
    after(async () => {
      await browser.close();
      await service[Symbol.asyncDispose]();
    });

    /** Shows a page and waits until it stands still. */
    async function show(page: Page, path: string, ready: string): Promise<void> {
      await page.goto(service.url + path);
      await page.locator(ready).first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    }

    for (const [name, path, ready, open] of pages) {
      test(`${name} is readable by all in both themes, quiet and never scrolls sideways, ${form}`, async () => {
        await using opened = await openTab(context);
        const { page, complaints } = opened;
        const problems: string[] = [];
        const scrollsAt = async (at: number): Promise<void> => {
          const sideways = await sidewaysPx(page);
          if (sideways > 0) problems.push(`${at} px: scrolls sideways by ${sideways} px`);
        };
        await show(page, path, ready);
        await open?.(page);
        for (const theme of ['dark', 'light'] as const) {
          await page.emulateMedia({ colorScheme: theme });
          await page.screenshot({ path: join(pictures, `${name}-${theme}-${width}.png`) });
          const found = await judge(page, theme === 'dark' ? 'colours' : 'all');
          problems.push(...found.map((line) => `${theme}: ${line}`));
        }
        await scrollsAt(width);
        await page.setViewportSize({ width: shrunkTo, height });
        await scrollsAt(shrunkTo);
        await page.screenshot({ path: join(pictures, `${name}-light-${shrunkTo}.png`) });
        const spilt = await page.evaluate<string[]>(spilling);
        problems.push(...spilt.map((line) => `words stand out of ${line}`));
        if (form === 'narrow')
          problems.push(...(await page.evaluate<string[]>(smallTargets)).map((line) => `too small: ${line}`));
        if (form === 'wide' && drawn.includes(name)) {
          await page.setViewportSize({ width, height });
          const cut = await page.evaluate<string[]>(cutAtTwiceTheText);
          problems.push(...cut.map((line) => `twice the text: cuts ${line}`));
          if ((await sidewaysPx(page)) > 0) problems.push('twice the text: scrolls sideways');
          await page.emulateMedia({ forcedColors: 'active' });
          const lost = await page.evaluate<string[]>(lostInForcedColours);
          problems.push(...lost.map((line) => `forced colours: ${line}`));
        }
        // What is not known is asked for, and the browser tells of the answer.
        problems.push(...complaints.filter((line) => !(name.endsWith('-unknown') && line.includes('404'))));
        assert.deepEqual(problems, []);
      });
    }
  });
}
