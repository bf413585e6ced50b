import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  findOverCeiling,
  lowered,
  measure,
  readCeilings,
  readDoors,
  readSources,
  rows,
  toTable,
} from './measure-house.mjs';

const figuresOf = (sources, doors) =>
  measure(new Map(Object.entries(sources)), new Map(Object.entries(doors ?? {}))).figures;

test('the sources stay below the ceilings: npm run check -- house prints where they stand', () => {
  const sources = readSources();
  assert.ok(sources.size > 300, 'the sources are found');
  assert.deepEqual(findOverCeiling(measure(sources, readDoors()).figures, readCeilings()), []);
});

test('lines, files and their median are those of the sources', () => {
  const { lines, files, medianLines } = figuresOf({
    'shared/src/a.ts': '1;\n2;\n3;\n',
    'shared/src/b.ts': '1;\n',
    'shared/src/c.ts': '1;\n2;\n',
  });
  assert.deepEqual([lines, files, medianLines], [6, 3, 2]);
});

test('a name is used by the files that import it, also through a file that passes it on and by the door of a package', () => {
  const sources = {
    'shared/src/store/one.ts':
      'export const one = 1;\nexport function two() {}\nexport interface Three {}\nconst four = 4;\nexport { four };',
    'shared/src/store/index.ts': "export { one, two as renamed } from './one.ts';\nexport * from './one.ts';",
    'apiserver/src/a.ts': "import { one, renamed } from '@cronjob-monitor/shared/store';",
    'apiserver/src/B.svelte':
      '<script lang="ts">\n  import { one, type Three } from \'@cronjob-monitor/shared/store\';\n</script>\n<p>import</p>',
  };
  const doors = { '@cronjob-monitor/shared/store': 'shared/src/store/index.ts' };
  const { exportedNames, singleUserPercent } = figuresOf(sources, doors);
  assert.deepEqual(
    [exportedNames, singleUserPercent],
    [4, 50],
    'two and Three have one user, one has two, four has none',
  );
});

test('the longest chain begins at an entry point and follows values, not types', () => {
  const sources = {
    'shared/src/main.ts': "import { a } from './a.ts';\nimport type { D } from './d.ts';",
    'shared/src/a.ts': "export { b as a } from './b.ts';",
    'shared/src/b.ts': "export const b = () => import('./c.ts');",
    'shared/src/c.ts': "import { type D } from './d.ts';\nexport const c = 1;",
    'shared/src/d.ts': "import './e.ts';\nexport interface D {}",
    'shared/src/e.ts': '',
  };
  assert.equal(figuresOf(sources).longestImportChain, 4);
});

test('bags, loose files, long functions and equal shapes are found', () => {
  const body = (name, lines) => `export function ${name}() {\n${'  call(1);\n'.repeat(lines - 2)}}`;
  const shape = (name, list) =>
    `export function ${name}(${list}) {\n  for (const each of ${list}) {\n    if (each.at > 1) each.move({ to: each.at + 1, by: [each.at, 2] });\n    else each.stop(each.at, each.at);\n  }\n}`;
  const figures = figuresOf({
    'controller/src/loose.ts': 'interface RoomDeps {}\ninterface RoomOptions {}\ninterface Room {}',
    'controller/src/room/a.ts': `${body('long', 81)}\n\n// A comment\n${body('short', 80).replace('{\n', '{\n\n  // why\n')}`,
    'controller/src/room/b.ts': `${shape('one', 'list')}\n${shape('two', 'others')}`,
  });
  const { bagInterfaces, looseControllerFiles, longFunctions, longestFunction, sameShapes } = figures;
  assert.deepEqual([bagInterfaces, looseControllerFiles, longFunctions, longestFunction, sameShapes], [2, 1, 1, 81, 1]);
});

test('a figure that is worse than its ceiling is named, one without a ceiling too', () => {
  const ceilings = Object.fromEntries(rows.map(({ key }) => [key, 10]));
  const figures = Object.fromEntries(rows.map(({ key }) => [key, 10]));
  assert.deepEqual(findOverCeiling(figures, ceilings), []);
  assert.deepEqual(findOverCeiling({ ...figures, files: 11, medianLines: 9 }, ceilings), [
    'files: 11, and the ceiling is 10',
    'median lines of a file: 9, and the ceiling is 10',
  ]);
  const { files: _, ...withoutFiles } = ceilings;
  assert.deepEqual(findOverCeiling(figures, withoutFiles), ['files has no ceiling in scripts/house-ceilings.json']);
});

test('ceilings go down alone, and the table shows figure, ceiling and goal', () => {
  const ceilings = Object.fromEntries(rows.map(({ key }) => [key, 10]));
  const figures = { ...ceilings, files: 9, lines: 11, medianLines: 12 };
  assert.deepEqual(lowered(figures, ceilings), { ...ceilings, files: 9, medianLines: 12 });
  assert.match(toTable(figures, ceilings)[2], /^files +9 +10 +<= 650$/);
});
