// Writes apiserver/src/openapi/openapi.json from the comments of the routers; with --check it only tells whether the file is current.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inNode24 } from './in-node-24.mjs';

await inNode24();
const { buildOpenApi } = await import('../apiserver/src/openapi/build.ts');

const file = join(import.meta.dirname, '..', 'apiserver', 'src', 'openapi', 'openapi.json');

const text = `${JSON.stringify(buildOpenApi(), null, 1)}\n`;
if (!process.argv.includes('--check')) {
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
  console.error('apiserver/src/openapi/openapi.json is not what the routers say: run node scripts/openapi.mjs');
  process.exitCode = 1;
}
