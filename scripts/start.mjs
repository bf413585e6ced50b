// Builds the user interface when it is not there or older than its sources, and starts the demonstration.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { constants } from 'node:os';
import { inNode24 } from './in-node-24.mjs';

await inNode24();
const { globSync } = await import('node:fs');
if (isOutdated('webui/dist/index.html', 'webui/{src,public}/**/*.*', 'webui/index.html', 'shared/src/contract/*.ts')) {
  console.log('Building the user interface, which takes half a minute the first time …');
  const built = spawnSync('pnpm', ['--silent', '--filter', '@cronjob-monitor/webui', 'run', 'build'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (built.status !== 0) console.error('The user interface could not be built; the API is served alone.');
}
const service = spawn(process.execPath, ['tests/demo/start.ts', ...process.argv.slice(2)], { stdio: 'inherit' });
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => service.kill(signal));
service.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

function isOutdated(target, ...patterns) {
  if (!existsSync(target)) return true;
  const builtAt = statSync(target).mtimeMs;
  return globSync(patterns).some((file) => statSync(file).mtimeMs > builtAt);
}
