// Types of all packages, lint, format, Svelte, and the rules of the lockfile. Ends non-zero if one of them fails.
// With `house` alone: how the sources are cut, beside goals and ceilings; with `words` alone: every sentence that people read.
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { inNode24 } from './in-node-24.mjs';

await inNode24();
const reports = { house: 'scripts/measure-house.mjs', words: 'scripts/words.mjs' };
const [report, ...options] = process.argv.slice(2);
if (report !== undefined) {
  if (!(report in reports)) {
    console.error(`check has no part called ${report}; it has: ${Object.keys(reports).join(', ')}`);
    process.exit(1);
  }
  process.exit(spawnSync(process.execPath, [reports[report], ...options], { stdio: 'inherit' }).status ?? 1);
}

const others = [
  { name: 'types', command: 'tsc', args: ['-b'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--quiet'] },
  { name: 'format', command: 'oxfmt', args: ['--check'] },
];
// It has use for one processor alone, for as long as all others together.
const svelte = { name: 'svelte', command: 'pnpm', args: ['--filter', '@cronjob-monitor/webui', 'run', 'check'] };

const oneAfterTheOther = async (steps) => {
  let failed = 0;
  for (const step of steps) if (!(await isGood(step))) failed++;
  return failed;
};
const lanes = existsSync('webui/src/App.svelte') ? [others, [svelte]] : [others];
const failed = (await Promise.all(lanes.map(oneAfterTheOther))).reduce((sum, one) => sum + one, 0);

const lockfile = readFileSync('pnpm-lock.yaml', 'utf8');
const lockfileProblems = [
  !lockfile.startsWith("lockfileVersion: '9.0'") && 'lockfileVersion is not 9.0',
  /https?:\/\//.test(lockfile) && 'it holds a download address',
].filter(Boolean);
for (const problem of lockfileProblems) console.log(`FAILED lockfile: ${problem}`);
if (lockfileProblems.length === 0) console.log('ok     lockfile');

process.exit(failed + lockfileProblems.length === 0 ? 0 : 1);

/** Runs a step; what it wrote is told as one piece when it has ended, above whether it was good. */
async function isGood({ name, command, args }) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 2 ** 28 }, (error, stdout, stderr) => {
      process.stdout.write(stdout + stderr);
      if (typeof error?.code === 'string') console.log(error.message); // it could not be started
      console.log(`${error ? 'FAILED' : 'ok    '} ${name}`);
      resolve(!error);
    });
  });
}
