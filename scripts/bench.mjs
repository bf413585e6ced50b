// Runs the benchmarks whose names are given, all of them without; one after the other, so that none disturbs another.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { requireNode24 } from './require-node.mjs';

requireNode24();
const all = ['schedule', 'recording', 'tick', 'latency', 'claim', 'sweep', 'api'];
const names = process.argv.length > 2 ? process.argv.slice(2) : all;
let failed = 0;
for (const name of names) {
  const file = `tests/bench/${name}.ts`;
  if (!existsSync(file)) {
    console.error(`there is no benchmark ${name}; there are: ${all.join(', ')}`);
    process.exit(1);
  }
  if (spawnSync(process.execPath, [file], { stdio: 'inherit' }).status !== 0) failed++;
}
process.exit(failed === 0 ? 0 : 1);
