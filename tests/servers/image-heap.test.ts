import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { imageArguments } from './image-environment.ts';

/** Holds 60 MB, replaces it again and again, and tells the most that the young generation and the whole heap had, in MB. */
const program = `
  const { getHeapSpaceStatistics, getHeapStatistics } = require('node:v8');
  const held = [];
  let [young, all] = [0, 0];
  for (let made = 0; made < 1_200_000; made++) {
    held[made % 100_000] = { made, of: [made, made, made], text: 'run ' + made, at: { made }, more: new Array(40).fill(made) };
    if (made % 20_000 !== 0) continue;
    const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
    young = Math.max(young, space.space_size / 2 ** 20);
    all = Math.max(all, getHeapStatistics().total_heap_size / 2 ** 20);
  }
  console.log(JSON.stringify({ young, all, held: held.length }));
`;

test('garbage that a process of the image makes takes less memory than what it holds', () => {
  const said = execFileSync(process.execPath, [...imageArguments(), '--eval', program], { encoding: 'utf8' });
  const { young, all } = JSON.parse(said) as { young: number; all: number };
  console.log(`young generation ${young} MB, heap ${all} MB`);
  assert.ok(young <= 16, `the young generation had ${young} MB`);
  assert.ok(all <= 240, `the heap had ${all} MB`);
});
