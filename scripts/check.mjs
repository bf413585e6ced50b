// Types of all packages, lint, format, Svelte, and the rules of the lockfile. Ends non-zero if one of them fails.
// With `house` alone: how the sources are cut, beside goals and ceilings; with `words` alone: every sentence that people read.
import { spawnSync } from 'node:child_process';
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

const steps = [
  { name: 'types', command: 'tsc', args: ['-b'] },
  { name: 'lint', command: 'oxlint', args: ['--type-aware', '--quiet'] },
  { name: 'format', command: 'oxfmt', args: ['--check'] },
];
if (existsSync('webui/src/App.svelte')) {
  steps.push({ name: 'svelte', command: 'pnpm', args: ['--filter', '@cronjob-monitor/webui', 'run', 'check'] });
}

let failed = 0;
for (const { name, command, args } of steps) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  const good = status === 0 && error === undefined;
  console.log(`${good ? 'ok    ' : 'FAILED'} ${name}`);
  if (!good) failed++;
}

const lockfile = readFileSync('pnpm-lock.yaml', 'utf8');
const lockfileProblems = [
  !lockfile.startsWith("lockfileVersion: '9.0'") && 'lockfileVersion is not 9.0',
  /https?:\/\//.test(lockfile) && 'it holds a download address',
].filter(Boolean);
for (const problem of lockfileProblems) console.log(`FAILED lockfile: ${problem}`);
if (lockfileProblems.length === 0) console.log('ok     lockfile');

process.exit(failed + lockfileProblems.length === 0 ? 0 : 1);
