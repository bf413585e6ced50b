// Runs the benchmarks whose names are given, one after the other, so that none disturbs another. Without a name it runs all of them, those
// that grow with the fleet at three sizes, and writes what they found into docs/performance.md. `--page NAME...` does that for some of them
// and takes what was found of the others before.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { performancePage } from './pages/performance-page.mjs';
import { inNode24 } from './in-node-24.mjs';

await inNode24();

const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs/performance.md');
const results = join(root, '.cache/bench');
const fleets = ['1000', '10000', '30000'].map((size) => ({ BENCH_CRONJOBS: size }));

/** In the order of the page; `runs`: the environment of each run, one without anything by default. */
const benchmarks = [
  { name: 'schedule' },
  { name: 'redaction' },
  {
    name: 'recording',
    runs: fleets.map((env) => (env.BENCH_CRONJOBS === '30000' ? { ...env, BENCH_JOBS: '100000' } : env)),
  },
  { name: 'steady' },
  { name: 'tick', runs: fleets },
  { name: 'sweep', runs: fleets },
  { name: 'latency', runs: [{}, { BENCH_EVIDENCE: 'true' }] },
  { name: 'claim' },
  { name: 'failover' },
  { name: 'api' },
  { name: 'clusters' },
  { name: 'prune' },
  { name: 'bytes', runs: ['10', '30', '90'].map((days) => ({ BENCH_DAYS: days })) },
  // How many changes a page survives does not depend on the fleet: the hour of them is lived through once.
  {
    name: 'ui',
    runs: ['40', '1000', '10000'].map((size) => ({
      BENCH_CRONJOBS: size,
      ...(size === '10000' ? {} : { BENCH_CHANGES: '600' }),
    })),
  },
];

const writesPage = process.argv.length === 2 || process.argv.includes('--page');
const names = process.argv.slice(2).filter((name) => name !== '--page');
for (const name of names) {
  if (benchmarks.some((one) => one.name === name)) continue;
  console.error(`there is no benchmark ${name}; there are: ${benchmarks.map((one) => one.name).join(', ')}`);
  process.exit(1);
}

mkdirSync(results, { recursive: true });
const fileOf = (name) => join(results, `${name}.jsonl`);
let failed = 0;
for (const { name, runs = [{}] } of benchmarks) {
  if (names.length > 0 && !names.includes(name)) continue;
  if (writesPage) rmSync(fileOf(name), { force: true });
  // A name alone is one run, of the size that the environment gives, and is not kept.
  for (const env of writesPage ? runs : [{}]) {
    const kept = writesPage ? { BENCH_RESULTS: fileOf(name) } : {};
    const options = { stdio: 'inherit', env: { ...process.env, ...env, ...kept } };
    // What the one before left to be written shall not hold up the commits of the next.
    spawnSync('sync');
    if (spawnSync(process.execPath, [join(root, `tests/bench/${name}.ts`)], options).status !== 0) failed++;
  }
}
if (writesPage) {
  const files = benchmarks.map(({ name }) => fileOf(name)).filter((file) => existsSync(file));
  const lines = files.flatMap((file) => readFileSync(file, 'utf8').trim().split('\n'));
  writeFileSync(page, performancePage(lines.map((line) => JSON.parse(line))));
}
process.exit(failed === 0 ? 0 : 1);
