// Builds the user interface when it is not there or older than its sources, and starts the demonstration.
import { existsSync, statSync } from 'node:fs';
import { inNode24 } from './in-node-24.mjs';
import { runChild } from './run-child.mjs';

await inNode24();
const { globSync } = await import('node:fs');
if (isOutdated('webui/dist/index.html', 'webui/{src,public}/**/*.*', 'webui/index.html', 'shared/src/contract/*.ts')) {
  console.log('Building the user interface, which takes half a minute the first time …');
  const build = ['scripts/pm.mjs', '--silent', '--filter', '@cronjob-monitor/webui', 'run', 'build'];
  const built = await runChild(process.execPath, build, { stdio: ['ignore', 'ignore', 'inherit'] });
  if (built.isStopped) process.exit(built.status);
  if (built.status !== 0) console.error('The user interface could not be built; the API is served alone.');
}
process.exit((await runChild(process.execPath, ['tests/demo/start.ts', ...process.argv.slice(2)])).status);

function isOutdated(target, ...patterns) {
  if (!existsSync(target)) return true;
  const builtAt = statSync(target).mtimeMs;
  return globSync(patterns).some((file) => statSync(file).mtimeMs > builtAt);
}
