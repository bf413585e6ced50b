// Runs one script of package.json by pnpm 12, whatever package manager called us. Works on any Node from 20 on.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const wanted = 12;
const agent = /^pnpm\/(\d+)\./.exec(process.env.npm_config_user_agent ?? '');
const runner = process.env.npm_execpath;
const byPnpm = agent !== null && Number(agent[1]) >= wanted && runner !== undefined;
const args = process.argv.slice(2);

const [command, commandArgs] = byPnpm ? ownPnpm(runner) : ['npx', ['-y', `pnpm@${wanted}`, ...args]];
const child = spawn(command, commandArgs, { stdio: 'inherit', env: cleanEnv(), shell: false });

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`cannot start ${command}: ${error.message}; npm must be on the PATH`);
  process.exit(127);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));

function ownPnpm(path) {
  return /\.[cm]?js$/.test(path) ? [process.execPath, [path, ...args]] : [path, args];
}

/** npm hands its own settings on as variables; pnpm warns about those it does not know. */
function cleanEnv() {
  const env = { ...process.env };
  if (!byPnpm)
    for (const key of Object.keys(env))
      if (/^npm_config_/i.test(key) && !/registry|proxy|cafile|cache$|userconfig|globalconfig/i.test(key))
        delete env[key];
  return env;
}
