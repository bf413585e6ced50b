// `pm.mjs run SCRIPT` runs one script of package.json by pnpm 12, whatever package manager called us. `pm.mjs then FILE` lets pnpm install what
// is missing and then runs FILE with nothing in between, so that signals arrive. Works on any Node from 20 on.
import { basename } from 'node:path';
import { runChild } from './run-child.mjs';

const wanted = 12;
const agent = /^pnpm\/(\d+)\./.exec(process.env.npm_config_user_agent ?? '');
const runner = process.env.npm_execpath;
// npm inside a script of pnpm keeps the agent of pnpm and names itself as the runner.
const byPnpm = agent !== null && Number(agent[1]) >= wanted && basename(runner ?? '').startsWith('pnpm');
const [verb, ...args] = process.argv.slice(2);

const first = await runPnpm(verb === 'then' ? ['exec', 'true'] : [verb, ...args]);
if (verb !== 'then' || first.status !== 0 || first.isStopped) process.exit(first.status);
process.exit((await runChild(process.execPath, args)).status);

async function runPnpm(pnpmArgs) {
  const [command, commandArgs] = byPnpm ? ownPnpm(runner, pnpmArgs) : ['npx', ['-y', `pnpm@${wanted}`, ...pnpmArgs]];
  try {
    return await runChild(command, commandArgs, { env: cleanEnv() });
  } catch (error) {
    console.error(`cannot start ${command}: ${error.message}; npm must be on the PATH`);
    return process.exit(127);
  }
}

function ownPnpm(path, pnpmArgs) {
  return /\.[cm]?js$/.test(path) ? [process.execPath, [path, ...pnpmArgs]] : [path, pnpmArgs];
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
