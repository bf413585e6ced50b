// Runs the benchmarks whose names are given, one after the other, so that none disturbs another. Without a name it runs all of them, those
// that grow with the fleet at three sizes, and writes what they found into docs/performance.md.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { performancePage } from './pages/performance-page.mjs';
import { requireNode24 } from './require-node.mjs';

requireNode24();

const root = resolve(import.meta.dirname, '..');
const page = join(root, 'docs/performance.md');
const results = join(root, '.cache/bench-results.jsonl');
const fleets = ['1000', '10000', '30000'].map((size) => ({ BENCH_CRONJOBS: size }));

/** In the order of the page; `runs`: the environment of each run, one without anything by default. */
const benchmarks = [
  { name: 'schedule' },
  { name: 'recording', runs: fleets },
  { name: 'steady' },
  { name: 'tick', runs: fleets },
  { name: 'sweep', runs: fleets },
  { name: 'latency', runs: [{}, { BENCH_EVIDENCE: 'true' }] },
  { name: 'claim' },
  { name: 'api' },
  { name: 'prune' },
  { name: 'bytes' },
];

const names = process.argv.slice(2);
for (const name of names) {
  if (benchmarks.some((one) => one.name === name)) continue;
  console.error(`there is no benchmark ${name}; there are: ${benchmarks.map((one) => one.name).join(', ')}`);
  process.exit(1);
}

const isComplete = names.length === 0;
mkdirSync(join(root, '.cache'), { recursive: true });
rmSync(results, { force: true });
let failed = 0;
for (const { name, runs = [{}] } of benchmarks) {
  if (!isComplete && !names.includes(name)) continue;
  // A name alone is one run, of the size that the environment gives.
  for (const env of isComplete ? runs : [{}]) {
    const options = { stdio: 'inherit', env: { ...process.env, ...env, BENCH_RESULTS: results } };
    if (spawnSync(process.execPath, [join(root, `tests/bench/${name}.ts`)], options).status !== 0) failed++;
  }
}
if (isComplete && existsSync(results)) {
  const found = readFileSync(results, 'utf8').trim().split('\n');
  writeFileSync(
    page,
    performancePage(
      found.map((line) => JSON.parse(line)),
      new Date(),
    ),
  );
}
process.exit(failed === 0 ? 0 : 1);
