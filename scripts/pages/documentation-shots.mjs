// Takes the pictures of README and docs from a running demonstration (`npm start`): node scripts/pages/documentation-shots.mjs [address]
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { chromium } = createRequire(new URL('../../tests/package.json', import.meta.url))('playwright-core');
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const address = (process.argv[2] ?? 'http://127.0.0.1:8080/').replace(/\/$/, '');
const folder = fileURLToPath(new URL('../../docs/images', import.meta.url));
const window = { width: 1440, height: 900 };

if (!existsSync(executablePath)) fail(`${executablePath} does not exist: install Chromium, or name it in CHROMIUM`);
const broken = await ask('cronjobs?status=critical,warning&sort=status&limit=1');
const alerts = await ask('alerts?limit=1');
const cronJob = broken.items[0];
if (!cronJob) fail('nothing is broken in this fleet: its pictures would show nothing');

/** Name, address, and what stands on the page when it is complete; the first one in the dark too. */
const pages = [
  ['dashboard', '/', 'text=Storage'],
  ['cronjob', `/cronjobs/${cronJob.namespace}/${cronJob.name}`, 'text=Last runs'],
  ...(alerts.items[0] ? [['alert', `/alerts/${alerts.items[0].id}`, 'text=Timeline']] : []),
];

mkdirSync(folder, { recursive: true });
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
try {
  for (const theme of ['light', 'dark']) {
    const context = await browser.newContext({ viewport: window, colorScheme: theme });
    // The banner of open access is right, and the same on every picture.
    await context.addInitScript({ content: "localStorage.setItem('cronjob-monitor.access-folded', 'true')" });
    const page = await context.newPage();
    for (const [name, path, complete] of theme === 'light' ? pages : pages.slice(0, 1)) {
      await page.goto(address + path);
      await page.locator(complete).first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      await page.screenshot({ path: `${folder}/${name}-${theme}.png` });
      console.log(`docs/images/${name}-${theme}.png`);
    }
    await context.close();
  }
} finally {
  await browser.close();
}

async function ask(question) {
  const answer = await fetch(`${address}/api/v1/${question}`).catch(() => undefined);
  if (!answer?.ok) fail(`${address} does not answer: is the demonstration running (npm start)?`);
  return answer.json();
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
