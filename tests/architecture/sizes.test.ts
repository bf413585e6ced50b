import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listFiles, readProjectFile } from './project-files.ts';

const maxLines = 600;

/** Sources of every language here. Data and what a program writes do not count. */
const sources = listFiles('{controller,apiserver,webui,shared,tests,scripts}/**/*.{ts,mjs,js,svelte,css,go,sh}').filter(
  (path) => !path.startsWith('tests/golden/') && !path.endsWith('.d.ts'),
);

/** Which of the files are longer than they may be, a line each. */
function findLong(paths: readonly string[], linesOf: (path: string) => number): string[] {
  return paths.flatMap((path) => {
    const lines = linesOf(path);
    return lines > maxLines ? [`${path} has ${lines} lines, more than ${maxLines}`] : [];
  });
}

test('no source is longer than 600 lines, and no test', () => {
  assert.ok(sources.length > 300, 'the sources are found');
  const linesOf = (path: string) => readProjectFile(path).trimEnd().split('\n').length;
  assert.deepEqual(findLong(sources, linesOf), []);
});

test('one line too many is found, in a source and in a test', () => {
  const lines: Record<string, number> = {
    'a.ts': 601,
    'b.ts': 600,
    'c.test.ts': 601,
    'd.test.ts': 600,
    'e_test.go': 600,
    'f.go': 601,
  };
  assert.deepEqual(
    findLong(Object.keys(lines), (path) => lines[path] ?? 0),
    [
      'a.ts has 601 lines, more than 600',
      'c.test.ts has 601 lines, more than 600',
      'f.go has 601 lines, more than 600',
    ],
  );
});
