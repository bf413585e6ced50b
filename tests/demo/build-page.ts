import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = ['webui/{src,public}/**/*.*', 'webui/index.html', 'shared/src/contract/**/*.ts'];

/** Builds the user interface when it is not there or older than its sources, and says how long that took. `stop` ends it. */
export async function buildPage(stop: AbortSignal): Promise<void> {
  if (!isOutdated(join(root, 'webui/dist/index.html'))) return;
  console.log('Building the user interface, once …');
  const startedMs = performance.now();
  const args = ['scripts/pm.mjs', '--silent', '--filter', '@cronjob-monitor/webui', 'run', 'build'];
  const build = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] });
  const end = () => void build.kill('SIGTERM');
  stop.addEventListener('abort', end);
  const [status] = (await once(build, 'exit')) as [number | null];
  stop.removeEventListener('abort', end);
  if (stop.aborted) return;
  if (status === 0)
    console.log(`Built the user interface in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.`);
  else console.error('The user interface could not be built; the API is served alone.');
}

function isOutdated(target: string): boolean {
  if (!existsSync(target)) return true;
  const builtAt = statSync(target).mtimeMs;
  return globSync(sources, { cwd: root }).some((file) => statSync(join(root, file)).mtimeMs > builtAt);
}
