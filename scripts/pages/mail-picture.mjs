// Takes the picture of a mail for docs/channels.md, as a mail program would show its HTML: node scripts/pages/mail-picture.mjs
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { inNode24 } from '../in-node-24.mjs';

await inNode24();
const { payloadOf } = await import('./channel-examples.mjs');

const { chromium } = createRequire(new URL('../../tests/package.json', import.meta.url))('playwright-core');
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const picture = join(import.meta.dirname, '../../docs/images/mail-light.png');

if (!existsSync(executablePath)) {
  console.error(`${executablePath} does not exist: install Chromium, or name it in CHROMIUM`);
  process.exit(1);
}
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-background-networking'];
const browser = await chromium.launch({ executablePath, args });
try {
  const page = await browser.newPage({ viewport: { width: 800, height: 200 }, colorScheme: 'light' });
  await page.setContent(payloadOf('email').html);
  await page.screenshot({ path: picture, fullPage: true });
} finally {
  await browser.close();
}
console.log('docs/images/mail-light.png');
